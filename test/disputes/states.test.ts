import { randomUUID } from 'node:crypto'
import t from 'tap'
import { expireEvidence } from '../../src/disputes/expire-evidence.ts'
import { DISPUTE_TRANSITIONS } from '../../src/disputes/states.ts'
import { terminalStates } from '../../src/lib/machine.ts'
import { DisputeStatus } from '../../src/wire/dispute-fields.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import {
  accept,
  endEvidenceTime,
  escalate,
  raise,
  resolve,
  statusOf,
  storyOf,
  submitEvidence,
} from '../support/disputes.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { settledPayment, webhookTypesOf } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const merchant = await service.merchant()
const { owner } = service

/** Runs a statement, rolls it back, and returns the error's SQLSTATE; undefined where it succeeded. */
async function attempt(statement: string, values: unknown[]): Promise<string | undefined> {
  await owner.query('begin')
  try {
    await owner.query(statement, values)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  } finally {
    await owner.query('rollback')
  }
}

t.test('the database accepts exactly the dispute moves of the transition table', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const allowed = new Set(DISPUTE_TRANSITIONS.map(({ from, to }) => `${from} ${to}`))
  let refused = 0
  for (const from of DisputeStatus.options) {
    const id = randomUUID()
    await owner.query(
      `insert into disputes (id, merchant_id, payment_intent_id, opened_by, reason, status, evidence_due_at, resolved_at)
       values ($1, $2, $3, 'PAYER', 'OTHER', $4, now(), $5)`,
      [id, merchant.id, paymentId, from, from.startsWith('RESOLVED') ? new Date() : null],
    )
    for (const to of DisputeStatus.options.filter((each) => each !== from)) {
      const code = await attempt(`update disputes set status = $2, resolved_at = $3 where id = $1`, [
        id,
        to,
        to.startsWith('RESOLVED') ? new Date() : null,
      ])
      if (code !== undefined) refused += 1
      t.equal(code, allowed.has(`${from} ${to}`) ? undefined : '23514', `${from} -> ${to}`)
    }
    await owner.query('delete from disputes where id = $1', [id])
  }
  t.equal(refused, 5 * 4 - (new Set(allowed).size - 1))
  t.same(terminalStates(DISPUTE_TRANSITIONS).toSorted(), ['RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR'])
})

/** Moves a new dispute to a status by the shortest path. */
async function disputeIn(status: DisputeStatus): Promise<{ id: string; paymentId: string }> {
  const paymentId = await settledPayment(service, merchant)
  const { body } = await raise(service, merchant, paymentId)
  const { id } = body
  if (status === 'ESCALATED') await escalate(service, id)
  if (status === 'UNDER_REVIEW' || status === 'RESOLVED_MERCHANT_FAVOUR') await submitEvidence(service, merchant, id)
  if (status === 'RESOLVED_MERCHANT_FAVOUR') await resolve(service, id, { status })
  if (status === 'RESOLVED_PAYER_FAVOUR') await accept(service, merchant, id)
  if ((await statusOf(service, id)) !== status) throw new Error(`the dispute did not come to ${status}`)
  return { id, paymentId }
}

type Trigger = Exclude<(typeof DISPUTE_TRANSITIONS)[number]['on'], 'opening'>

/** The request or the job that makes each move. */
const MAKES: Record<Trigger, (id: string) => Promise<Answer | undefined>> = {
  evidence: (id) => submitEvidence(service, merchant, id),
  'evidence deadline': async (id) => {
    await endEvidenceTime(service, id)
    await expireEvidence(service.app)
    return undefined
  },
  escalation: (id) => escalate(service, id),
  acceptance: (id) => accept(service, merchant, id),
  'resolution for the merchant': (id) => resolve(service, id, { status: 'RESOLVED_MERCHANT_FAVOUR' }),
  'resolution for the payer': (id) => resolve(service, id),
}

/** The error of each forbidden move; DISPUTE_CLOSED where none is listed. */
const ERRORS: Record<string, string> = {
  'OPEN resolution for the merchant': 'DISPUTE_NOT_UNDER_REVIEW',
  'OPEN resolution for the payer': 'DISPUTE_NOT_UNDER_REVIEW',
  'ESCALATED escalation': 'DISPUTE_ESCALATED',
  'ESCALATED acceptance': 'DISPUTE_ESCALATED',
}

t.test('each move of the table writes its event and webhook, and every other move is rejected', async (t) => {
  let refused = 0
  for (const from of DisputeStatus.options) {
    for (const [on, make] of Object.entries(MAKES)) {
      const { id, paymentId } = await disputeIn(from)
      const told = await webhookTypesOf(service, paymentId)
      const before = await countRows(owner)
      const story = await storyOf(service, id)
      const answer = await make(id)
      const row = DISPUTE_TRANSITIONS.find((each) => each.from === from && each.on === on)
      if (row !== undefined) {
        if (answer !== undefined) t.match(answer, { status: 200, body: { id, status: row.to } }, `${from} ${on}`)
        t.equal(await statusOf(service, id), row.to)
        const by = { evidence: 'MERCHANT', acceptance: 'MERCHANT', 'evidence deadline': 'BATCH_JOB' }[on] ?? 'PLATFORM'
        t.same(await storyOf(service, id), [...story, `${on}: ${from} > ${row.to} by ${by}`])
        t.same(await webhookTypesOf(service, paymentId), [...told, ...(row.webhook === null ? [] : [row.webhook])])
      } else if (on === 'evidence' && !from.startsWith('RESOLVED')) {
        t.match(answer, { status: 200, body: { id, status: from } }, 'more evidence moves nothing')
        t.same(await storyOf(service, id), [...story, `evidence: ${from} > ${from} by MERCHANT`])
        t.same(await webhookTypesOf(service, paymentId), told)
      } else {
        refused += 1
        if (answer !== undefined) {
          const code = ERRORS[`${from} ${on}`] ?? 'DISPUTE_CLOSED'
          t.match(answer, { status: 409, body: { code } }, `${from} ${on}`)
        }
        t.equal(await statusOf(service, id), from)
        t.same(await countRows(owner), before, 'nothing is written')
      }
    }
  }
  t.equal(refused, 5 * 6 - 2 - (DISPUTE_TRANSITIONS.length - 1))
  t.same(await brokenInvariants(owner), [])
})

t.test("the service can neither change nor delete a dispute's events", async (t) => {
  const { id } = await disputeIn('UNDER_REVIEW')
  for (const statement of [
    `update dispute_events set note = 'another' where dispute_id = $1`,
    'delete from dispute_events where dispute_id = $1',
  ]) {
    await owner.query('begin')
    await owner.query('set local role svc_runtime')
    const code = await owner.query(statement, [id]).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
    await owner.query('rollback')
    t.equal(code, '42501', statement)
    t.match(await attempt(statement, [id]), /^(?!undefined)/, 'nor can the owner of the tables')
  }
  for (const column of ['reason', 'opened_by', 'payment_intent_id', 'evidence_due_at', 'payer_statement']) {
    await owner.query('begin')
    await owner.query('set local role svc_runtime')
    const code = await owner.query(`update disputes set ${column} = ${column} where id = $1`, [id]).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
    await owner.query('rollback')
    t.equal(code, '42501', column)
  }
})
