import t from 'tap'
import { expireEvidence } from '../../src/disputes/expire-evidence.ts'
import { testService, untilStatus } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import {
  accept,
  endEvidenceTime,
  escalate,
  OPERATOR,
  raise,
  statusOf,
  storyOf,
  submitEvidence,
} from '../support/disputes.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { settledPayment, times } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()

async function openDispute(): Promise<string> {
  return (await raise(service, merchant, await settledPayment(service, merchant))).body.id
}

t.test('the time for evidence is the configured one', async (t) => {
  const id = await openDispute()
  const { rows } = await owner.query(
    `select extract(epoch from evidence_due_at - created_at)::int4 as seconds from disputes where id = $1`,
    [id],
  )
  t.same(rows, [{ seconds: 14 * 86_400 }])
  const short = await testService(t, { env: { SVC_DISPUTE_EVIDENCE_SECONDS: '60' } })
  const shop = await short.merchant()
  const { body } = await raise(short, shop, await settledPayment(short, shop))
  t.equal(Date.parse(body.evidence_due_at) - Date.parse(body.opened_at), 60_000)
})

t.test('evidence is appended to earlier evidence, also under review and when escalated', async (t) => {
  const id = await openDispute()
  t.match(await submitEvidence(service, merchant, id, 'First.'), {
    status: 200,
    body: { status: 'UNDER_REVIEW', merchant_evidence: 'First.' },
  })
  t.match(await submitEvidence(service, merchant, id, 'Second.'), {
    status: 200,
    body: { status: 'UNDER_REVIEW', merchant_evidence: 'First.\n\n---\n\nSecond.' },
  })
  await escalate(service, id)
  const { body } = await submitEvidence(service, merchant, id, 'Third.')
  t.match(body, { status: 'ESCALATED', merchant_evidence: 'First.\n\n---\n\nSecond.\n\n---\n\nThird.' })
  t.same(
    body.events.map(({ event, note, changed_by }: Record<string, string>) => [event, note, changed_by]),
    [
      ['opening', null, 'MERCHANT'],
      ['evidence', 'First.', 'MERCHANT'],
      ['evidence', 'Second.', 'MERCHANT'],
      // The platform's reason for escalating is not shown to merchants.
      ['escalation', null, 'PLATFORM'],
      ['evidence', 'Third.', 'MERCHANT'],
    ],
  )
})

t.test('concurrent evidence is all stored', async (t) => {
  const id = await openDispute()
  const answers = await times(10, (index) => submitEvidence(service, merchant, id, `Part ${index}.`))
  t.ok(answers.every(({ status }) => status === 200))
  const { rows } = await owner.query<{ merchant_evidence: string }>(
    'select merchant_evidence from disputes where id = $1',
    [id],
  )
  t.same(
    rows[0]?.merchant_evidence.split('\n\n---\n\n').toSorted(),
    Array.from({ length: 10 }, (_, index) => `Part ${index}.`),
  )
  t.equal((await storyOf(service, id)).filter((line) => line.includes('OPEN > UNDER_REVIEW')).length, 1)
  t.same(await brokenInvariants(owner), [])
})

t.test('evidence is limited to a hundred thousand characters', async (t) => {
  const id = await openDispute()
  const part = 'x'.repeat(19_993)
  for (let index = 0; index < 5; index += 1)
    t.equal((await submitEvidence(service, merchant, id, part)).status, 200, `part ${index + 1}`)
  // 5 parts and 4 separators of 7 are 99,993 characters; the next separator fills them.
  const before = await countRows(owner)
  t.match(await submitEvidence(service, merchant, id, 'y'), {
    status: 400,
    body: { code: 'VALIDATION_FAILED', errors: [{ path: 'merchant_evidence', code: 'TOO_LONG' }] },
  })
  t.match(await submitEvidence(service, merchant, id, 'z'.repeat(20_001)), {
    status: 400,
    body: { code: 'VALIDATION_FAILED', errors: [{ path: 'merchant_evidence' }] },
  })
  t.same(await countRows(owner), before)
})

t.test('a dispute without evidence in time is under review and marked; late evidence removes the mark', async (t) => {
  const [late, answered, waiting] = [await openDispute(), await openDispute(), await openDispute()]
  await submitEvidence(service, merchant, answered)
  await endEvidenceTime(service, late)
  await endEvidenceTime(service, answered)
  t.same(await expireEvidence(service.app), { more: false })
  t.same(await storyOf(service, late), [
    'opening: - > OPEN by MERCHANT',
    'evidence deadline: OPEN > UNDER_REVIEW by BATCH_JOB',
  ])
  t.equal(await statusOf(service, waiting), 'OPEN')
  const { body } = await service.call('GET', `/api/v1/portal/disputes/${late}`, { merchant })
  t.match(body, { status: 'UNDER_REVIEW', evidence_missing: true, merchant_evidence: null })
  t.match(body.events.at(-1), { changed_by: 'BATCH_JOB', actor: null, note: null })
  t.equal(
    (await service.call('GET', `/api/v1/portal/disputes/${answered}`, { merchant })).body.evidence_missing,
    false,
    'who has answered misses nothing',
  )
  t.match(await submitEvidence(service, merchant, late, 'Sorry, here it is.'), {
    status: 200,
    body: { status: 'UNDER_REVIEW', evidence_missing: false, merchant_evidence: 'Sorry, here it is.' },
  })
  const before = await countRows(owner)
  t.same(await expireEvidence(service.app), { more: false })
  t.same(await countRows(owner), before, 'the job leaves what it has done')
})

t.test('concurrent evidence and deadline: in either order the dispute is under review with the evidence', async (t) => {
  const ids: string[] = []
  while (ids.length < 12) ids.push(await openDispute())
  for (const id of ids) await endEvidenceTime(service, id)
  const [answers] = await Promise.all([
    Promise.all(ids.map((id) => submitEvidence(service, merchant, id, 'In time, or nearly.'))),
    ...Array.from({ length: 4 }, () => expireEvidence(service.app)),
  ])
  await expireEvidence(service.app)
  for (const [index, id] of ids.entries()) {
    t.match(answers[index], { status: 200, body: { status: 'UNDER_REVIEW', evidence_missing: false } })
    const story = await storyOf(service, id)
    t.equal(story.filter((line) => line.includes('OPEN > UNDER_REVIEW')).length, 1, story.join('; '))
  }
  t.same(await brokenInvariants(owner), [])
})

/** Payments that are needed only for foreign keys. */
async function settledMany(shop: TestMerchant, count: number): Promise<string[]> {
  const one = await settledPayment(service, shop)
  const { rows } = await owner.query<{ id: string }>(
    `with copy as (
       select (json_populate_record(p, json_build_object('id', gen_random_uuid(), 'idempotency_key', n::text, 'end_to_end_id', 'SVC' || md5(p.id::text || n), 'bank_consent_id', md5(p.id::text || n)))).*
       from payment_intents p, generate_series(1, $2) as n where p.id = $1
     )
     insert into payment_intents select * from copy returning id`,
    [one, count],
  )
  return rows.map(({ id }) => id)
}

/** Plants overdue disputes of a new merchant, all open. */
async function plantOverdue(count: number): Promise<string> {
  const shop = await service.merchant()
  const payments = await settledMany(shop, count)
  await owner.query(
    `insert into disputes (id, merchant_id, payment_intent_id, opened_by, reason, evidence_due_at)
     select gen_random_uuid(), $1, p.id, 'PAYER', 'OTHER', now() - interval '1 hour' from unnest($2::uuid[]) as p (id)`,
    [shop.id, payments],
  )
  await owner.query(
    `insert into dispute_events (id, merchant_id, dispute_id, new_status, event, changed_by, prev_hash, event_hash)
     select gen_random_uuid(), merchant_id, id, 'OPEN', 'raise', 'PAYER', '', '' from disputes where merchant_id = $1`,
    [shop.id],
  )
  return shop.id
}

t.test('disputes that fail hold up none behind them', async (t) => {
  const failing = await plantOverdue(100)
  const fine = await plantOverdue(1)
  await owner.query(
    `create function refuse_move() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$`,
  )
  await owner.query(
    `create trigger refuse before update on disputes for each row when (new.merchant_id = '${failing}') execute function refuse_move()`,
  )
  await owner.query(
    `update disputes set evidence_due_at = evidence_due_at + interval '1 minute' where merchant_id = $1`,
    [fine],
  )
  t.same(await expireEvidence(service.app), { more: true }, 'a page of failures')
  await t.rejects(expireEvidence(service.app), { message: /^100 of a job's items failed/ })
  t.equal(await openOf(fine), 0)
  t.equal(await openOf(failing), 100)
  await owner.query('drop trigger refuse on disputes')
  while ((await expireEvidence(service.app)).more);
  t.equal(await openOf(failing), 0)
})

t.test('the next run takes the disputes that one run leaves, and two workers share them', async (t) => {
  const shop = await plantOverdue(105)
  const runs = await Promise.all([expireEvidence(service.app), expireEvidence(service.app)])
  t.ok(runs.some(({ more }) => more) || (await openOf(shop)) === 0)
  while ((await expireEvidence(service.app)).more);
  t.equal(await openOf(shop), 0)
})

t.test("one dispute that can't be moved does not block others", async (t) => {
  const [stuck, free] = [await openDispute(), await openDispute()]
  await owner.query(`update disputes set evidence_due_at = now() - interval '2 days' where id = $1`, [stuck])
  await endEvidenceTime(service, free)
  await owner.query(`
    create function break_dispute() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
    create trigger break_dispute before update of status on disputes for each row when (old.id = '${stuck}')
      execute function break_dispute()`)
  await t.rejects(expireEvidence(service.app), { message: /^1 of a job's items failed/ })
  await owner.query('drop function break_dispute cascade')
  t.equal(await statusOf(service, free), 'UNDER_REVIEW')
  t.equal(await statusOf(service, stuck), 'OPEN')
  await expireEvidence(service.app)
  t.equal(await statusOf(service, stuck), 'UNDER_REVIEW', 'and is moved by a later run')
})

t.test('each dispute is moved in a transaction of its own', async (t) => {
  const ids = [await openDispute(), await openDispute(), await openDispute()]
  for (const id of ids) await endEvidenceTime(service, id)
  await expireEvidence(service.app)
  const { rows } = await owner.query(
    `select count(distinct xmin::text)::integer as transactions from dispute_events where dispute_id = any($1) and event = 'evidence deadline'`,
    [ids],
  )
  t.same(rows, [{ transactions: 3 }])
})

async function openOf(merchantId: string): Promise<number> {
  const { rows } = await owner.query(
    `select count(*)::int4 as count from disputes where merchant_id = $1 and status = 'OPEN'`,
    [merchantId],
  )
  return rows[0].count
}

t.test('the deadline is after exactly fourteen days', async (t) => {
  const working = await testService(t, { worker: true })
  const shop = await working.merchant()
  const paymentId = await settledPayment(working, shop)
  // The worker may have claimed the settlement.
  await untilStatus(working, shop, paymentId, 'Settled')
  const { body: dispute } = await raise(working, shop, paymentId)
  const advance = (by: string) =>
    working.call('POST', '/api/v1/sandbox/clock/advance', { headers: OPERATOR, body: { merchant_id: shop.id, by } })
  t.equal((await advance('13d')).status, 200)
  t.equal(await statusOf(working, dispute.id), 'OPEN')
  t.equal((await advance('2d')).status, 200)
  const { body } = await working.call('GET', `/api/v1/portal/disputes/${dispute.id}`, { merchant: shop })
  t.match(body, { status: 'UNDER_REVIEW', evidence_missing: true })
})

t.test('a resolved dispute rejects evidence', async (t) => {
  const id = await openDispute()
  await accept(service, merchant, id)
  const before = await countRows(owner)
  t.match(await submitEvidence(service, merchant, id), { status: 409, body: { code: 'DISPUTE_CLOSED' } })
  t.same(await countRows(owner), before)
})
