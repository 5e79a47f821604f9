import t from 'tap'
import type { Test } from 'tap'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { testService, untilStatus } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import {
  accept,
  endEvidenceTime,
  escalate,
  raise,
  raiseAsPayer,
  resolve,
  statusOf,
  storyOf,
  submitEvidence,
} from '../support/disputes.ts'
import { expireEvidence } from '../../src/disputes/expire-evidence.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { bookingsOf, eventsOf, refund, settledPayment, tally, webhookTypesOf } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const { owner } = service
const merchant = await service.merchant()

async function reviewed(changes: Record<string, unknown> = {}): Promise<{ id: string; paymentId: string }> {
  const paymentId = await settledPayment(service, merchant, changes)
  const { body } = await raise(service, merchant, paymentId)
  await submitEvidence(service, merchant, body.id)
  return { id: body.id, paymentId }
}

async function refundsOf(paymentId: string): Promise<unknown[]> {
  const { rows } = await owner.query(
    'select id, status::text as status, amount, reason from payment_refunds where payment_intent_id = $1 order by created_at',
    [paymentId],
  )
  return rows
}

/** All rows of all tables, to compare before and after. */
async function changesNothing(t: Test, run: () => Promise<void>): Promise<void> {
  const before = await countRows(owner)
  await run()
  t.same(await countRows(owner), before, 'no table has another number of rows')
}

t.test('a resolution moves no money unless a refund is requested', async (t) => {
  const { id, paymentId } = await reviewed()
  t.match(await resolve(service, id), {
    status: 200,
    body: {
      status: 'RESOLVED_PAYER_FAVOUR',
      resolution_note: 'No proof of delivery.',
      resolved_by: 'olga',
      resolved_at: /Z$/,
      refund: null,
    },
  })
  t.same(await refundsOf(paymentId), [])
  const { rows } = await owner.query(
    `select actor_name, merchant_id, subject_id, reason, before, after from operator_actions where action = 'dispute.resolve' and subject_id = $1`,
    [id],
  )
  t.same(rows, [
    {
      actor_name: 'olga',
      merchant_id: merchant.id,
      subject_id: id,
      reason: 'No proof of delivery.',
      before: { status: 'UNDER_REVIEW' },
      after: { status: 'RESOLVED_PAYER_FAVOUR', refund_id: null },
    },
  ])
})

t.test('a refund that a resolution orders is executed by the job', async (t) => {
  const { id, paymentId } = await reviewed()
  const answer = await resolve(service, id, { refund: true })
  t.match(answer, { status: 200, body: { refund: { refund_status: 'PENDING', amount: '50.00' } } })
  t.match(await refundsOf(paymentId), [
    { id: answer.body.refund.refund_id, status: 'PENDING', amount: '50.0000', reason: `dispute ${id}` },
  ])
  t.match(
    await refund(service, merchant, { id: paymentId }),
    { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED' } },
    'what is ordered is reserved',
  )
  await resumeRefunds(service.app)
  const { body } = await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant })
  t.match(body, { refund: { refund_id: answer.body.refund.refund_id, refund_status: 'EXECUTED', amount: '50.00' } })
  t.match((await eventsOf(service, paymentId)).at(-1), { new_status: 'Refunded', changed_by: 'BATCH_JOB' })
  t.same((await bookingsOf(service, paymentId)).credits, ['50.0000'])
  t.same((await webhookTypesOf(service, paymentId)).slice(3), [
    'dispute.opened',
    'dispute.resolved',
    'payment.refunded',
  ])
  t.same(await brokenInvariants(owner), [])
})

/** Less than the cadence of the job. */
const SOON_MS = 4_000

t.test('a running worker executes the refund at once', async (t) => {
  const working = await testService(t, { worker: true })
  const shop = await working.merchant()
  // A busy machine may be late with one of them, and not with all.
  const waits: number[] = []
  while (waits.length < 3 && waits.every((ms) => ms >= SOON_MS)) {
    const paymentId = await settledPayment(working, shop)
    await untilStatus(working, shop, paymentId, 'Settled')
    const { body } = await raiseAsPayer(working, paymentId)
    const began = performance.now()
    t.match(await accept(working, shop, body.id, { body: { refund: true, note: 'Ours to mend.' } }), {
      status: 200,
      body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: 'Ours to mend.' },
    })
    await untilStatus(working, shop, paymentId, 'Refunded')
    waits.push(performance.now() - began)
    t.equal((await eventsOf(working, paymentId)).at(-1)?.changed_by, 'BATCH_JOB')
  }
  t.ok(Math.min(...waits) < SOON_MS, `sooner than the job would have come of itself: ${waits.join(', ')}`)
})

t.test('the remaining amount is refunded after a partial refund', async (t) => {
  const { id, paymentId } = await reviewed()
  await refund(service, merchant, { id: paymentId, body: { amount: '20.00' } })
  t.match(await resolve(service, id, { refund: true }), { status: 200, body: { refund: { amount: '30.00' } } })
  await resumeRefunds(service.app)
  t.same((await bookingsOf(service, paymentId)).credits, ['20.0000', '30.0000'])
  t.same(await brokenInvariants(owner), [])
})

t.test('where no amount remains to refund, the dispute is not resolved', async (t) => {
  const whole = await reviewed()
  await refund(service, merchant, { id: whole.paymentId })
  const reserved = await reviewed()
  bank.steer('refund', noAnswer)
  await refund(service, merchant, { id: reserved.paymentId })
  bank.steer('refund', undefined)
  await changesNothing(t, async () => {
    for (const { id } of [whole, reserved]) {
      t.match(await resolve(service, id, { refund: true }), { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED' } })
      t.match(await accept(service, merchant, id, { body: { refund: true } }), {
        status: 409,
        body: { code: 'PAYMENT_ALREADY_REFUNDED' },
      })
      t.equal(await statusOf(service, id), 'UNDER_REVIEW')
    }
  })
  t.equal((await resolve(service, whole.id)).status, 200, 'without a refund it is resolved')
})

t.test('a refund that the bank rejects is shown with the dispute, and no money moves', async (t) => {
  const { id, paymentId } = await reviewed({ scenario: 'refund-fails' })
  t.equal((await resolve(service, id, { refund: true })).status, 200)
  await resumeRefunds(service.app)
  const { body } = await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant })
  t.match(body, { status: 'RESOLVED_PAYER_FAVOUR', refund: { refund_status: 'FAILED', amount: '50.00' } })
  const { body: payment } = await service.call('GET', `/api/v1/payments/${paymentId}`, { merchant })
  t.equal(payment.status, 'Settled')
  t.same((await webhookTypesOf(service, paymentId)).slice(3), ['dispute.opened', 'dispute.resolved', 'refund.failed'])
  t.same(await brokenInvariants(owner), [])
})

t.test("a resolution in the merchant's favour has no refund", async (t) => {
  const { id } = await reviewed()
  await changesNothing(t, async () => {
    t.match(await resolve(service, id, { status: 'RESOLVED_MERCHANT_FAVOUR', refund: true }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ path: 'refund' }] },
    })
  })
  t.match(await resolve(service, id, { status: 'RESOLVED_MERCHANT_FAVOUR', refund: false }), { status: 200 })
})

t.test('two concurrent resolutions with refunds make one resolution and one refund', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { id, paymentId } = await reviewed()
    const answers = await Promise.all(Array.from({ length: 6 }, () => resolve(service, id, { refund: true })))
    t.same(tally(answers.map(({ status }) => status)), { '200': 1, '409': 5 })
    t.same(
      new Set(answers.filter(({ status }) => status === 409).map(({ body }) => body.code)),
      new Set(['DISPUTE_CLOSED']),
    )
    await resumeRefunds(service.app)
    t.same((await bookingsOf(service, paymentId)).credits, ['50.0000'])
  }
  t.same(await brokenInvariants(owner), [])
})

t.test('of a concurrent resolution and acceptance exactly one wins', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { id, paymentId } = await reviewed()
    const answers = await Promise.all([
      resolve(service, id, { status: 'RESOLVED_MERCHANT_FAVOUR' }),
      accept(service, merchant, id, { body: { refund: true } }),
      resolve(service, id, { refund: true }),
      accept(service, merchant, id),
    ])
    t.same(tally(answers.map(({ status }) => status)), { '200': 1, '409': 3 })
    const winner = answers.find(({ status }) => status === 200)
    t.equal(await statusOf(service, id), winner?.body.status)
    t.equal((await storyOf(service, id)).length, 3)
    t.equal((await webhookTypesOf(service, paymentId)).filter((type) => type === 'dispute.resolved').length, 1)
  }
  await resumeRefunds(service.app)
  t.same(await brokenInvariants(owner), [])
})

t.test("a resolution beside a merchant's refund never refunds more than was paid", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { id, paymentId } = await reviewed()
    await Promise.all([
      resolve(service, id, { refund: true }),
      refund(service, merchant, { id: paymentId, body: { amount: '30.00' } }),
      refund(service, merchant, { id: paymentId }),
    ])
    await resumeRefunds(service.app)
    const { credits } = await bookingsOf(service, paymentId)
    t.ok(credits.reduce((sum, text) => sum + BigInt(text.replace('.', '')), 0n) <= 500_000n, credits.join(' '))
  }
  t.same(await brokenInvariants(owner), [])
})

t.test('concurrent requests of all kinds on one payment finish without a deadlock', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const { body: first } = await raise(service, merchant, paymentId)
  await endEvidenceTime(service, first.id)
  const answers = await Promise.all([
    submitEvidence(service, merchant, first.id),
    accept(service, merchant, first.id),
    raiseAsPayer(service, paymentId),
    raise(service, merchant, paymentId),
    escalate(service, first.id),
    resolve(service, first.id),
    refund(service, merchant, { id: paymentId, body: { amount: '1.00' } }),
    expireEvidence(service.app).then(() => ({ status: 200 })),
  ])
  t.ok(
    answers.every(({ status }) => status < 500),
    JSON.stringify(answers.map(({ status }) => status)),
  )
  t.same(await brokenInvariants(owner), [])
})

/** The last webhook of a payment, as the bytes that are sent. */
async function lastPayload(from: TestService, paymentId: string): Promise<{ text: string; event_id: string }> {
  const { rows } = await from.owner.query<{ text: string; event_id: string }>(
    'select payload::text as text, event_id from webhook_deliveries where payment_intent_id = $1 order by sequence desc limit 1',
    [paymentId],
  )
  if (rows[0] === undefined) throw new Error('no webhook')
  return rows[0]
}

t.test("a webhook has the dispute's current state, always in one form", async (t) => {
  const paymentId = await settledPayment(service, merchant, { amount: '0.80' })
  const { body: opened } = await raiseAsPayer(service, paymentId)
  const data = {
    object: 'dispute',
    id: opened.id,
    paymentId,
    endToEndId: opened.end_to_end_id,
    merchantId: merchant.id,
    openedBy: 'PAYER',
    reason: 'ITEM_NOT_RECEIVED',
    status: 'OPEN',
    amount: { grossAmount: '0.80', currency: 'GBP' },
    payerStatement: 'It never came.',
    evidenceDueAt: opened.evidence_due_at,
    openedAt: opened.opened_at,
    resolvedAt: null,
    resolutionNote: null,
    refunded: false,
    sequence: 4,
    test: true,
  }
  const first = await lastPayload(service, paymentId)
  const envelope = (payload: { text: string; event_id: string }, eventType: string, createdAt: string, told: object) =>
    t.equal(
      payload.text,
      JSON.stringify({ eventId: payload.event_id, eventType, apiVersion: 'v1', createdAt, data: told }),
    )
  envelope(first, 'dispute.opened', opened.opened_at, data)
  const { body: escalated } = await escalate(service, opened.id)
  const second = await lastPayload(service, paymentId)
  envelope(second, 'dispute.escalated', escalated.updated_at, { ...data, status: 'ESCALATED', sequence: 5 })
  const { body: resolved } = await resolve(service, opened.id, { refund: true, resolution_note: 'Ünproved "quote"' })
  const third = await lastPayload(service, paymentId)
  envelope(third, 'dispute.resolved', resolved.resolved_at, {
    ...data,
    status: 'RESOLVED_PAYER_FAVOUR',
    resolvedAt: resolved.resolved_at,
    resolutionNote: 'Ünproved "quote"',
    refunded: true,
    sequence: 6,
  })
  await resumeRefunds(service.app)
  t.same(
    (
      await owner.query('select sequence from webhook_deliveries where payment_intent_id = $1 order by sequence', [
        paymentId,
      ])
    ).rows.map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5, 6, 7],
  )
})
