import { randomUUID } from 'node:crypto'
import t from 'tap'
import { authorisedPayment, testService } from '../../support/app.ts'
import {
  bookingsOf,
  eventsOf,
  movesOf,
  refundWithRetry,
  refund,
  resumeAllRefunds,
  settledPayment,
  tally,
  times,
  webhooksOf,
  webhookTypesOf,
} from '../../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()

async function amountsOf(id: string): Promise<unknown> {
  const { rows } = await service.owner.query(
    'select refunded_amount as refunded, refund_reserved_amount as reserved from payment_intents where id = $1',
    [id],
  )
  return rows[0]
}

t.test('a refund without a body refunds the whole amount', async (t) => {
  const id = await settledPayment(service, merchant)
  const answer = await refund(service, merchant, { id })
  t.equal(answer.status, 200)
  t.strictSame(Object.keys(answer.body), [
    'payment_id',
    'status',
    'refund_id',
    'refund_status',
    'refunded_amount',
    'remaining_amount',
  ])
  t.match(answer.body, {
    payment_id: id,
    status: 'Refunded',
    refund_status: 'EXECUTED',
    refunded_amount: '50.00',
    remaining_amount: '0.00',
  })
  t.same(
    await bookingsOf(service, id),
    { debits: ['50.0000'], credits: ['50.0000'] },
    'the fee is not kept from the payer',
  )
  t.match((await eventsOf(service, id)).at(-1), {
    previous_status: 'Settled',
    new_status: 'Refunded',
    changed_by: 'MERCHANT_API',
    raw_payload: '{}',
  })
  const webhook = (await webhooksOf(service, id)).at(-1)
  t.match(webhook, {
    event_type: 'payment.refunded',
    sequence: 4,
    payload: { data: { status: 'REFUNDED', previousStatus: 'SETTLED', failure: null } },
  })
  t.same(webhook?.payload.data.refund, { id: answer.body.refund_id, amount: '50.00', refundedTotal: '50.00' })
})

t.test('partial refunds leave the payment Settled until the last one completes it', async (t) => {
  const id = await settledPayment(service, merchant)
  const first = await refund(service, merchant, { id, body: { amount: '20.5', reason: 'one shoe' } })
  t.match(first, { status: 200, body: { status: 'Settled', refunded_amount: '20.50', remaining_amount: '29.50' } })
  const second = await refund(service, merchant, { id, body: { amount: '0.01', refund_amount_available: '29.50' } })
  t.match(second, { status: 200, body: { status: 'Settled', refunded_amount: '20.51', remaining_amount: '29.49' } })
  t.same(
    await movesOf(service, id),
    ['AwaitingAuthorisation', 'Authorised', 'Settled'],
    'a part is no change of status',
  )
  const last = await refund(service, merchant, { id })
  t.match(last, { status: 200, body: { status: 'Refunded', refunded_amount: '50.00', remaining_amount: '0.00' } })
  const webhooks = (await webhooksOf(service, id)).slice(3)
  t.same(
    webhooks.map(({ event_type, sequence, payload }) => [
      event_type,
      sequence,
      payload.data.status,
      payload.data.refund.amount,
      payload.data.refund.refundedTotal,
    ]),
    [
      ['payment.partially_refunded', 4, 'SETTLED', '20.50', '20.50'],
      ['payment.partially_refunded', 5, 'SETTLED', '0.01', '20.51'],
      ['payment.refunded', 6, 'REFUNDED', '29.49', '50.00'],
    ],
  )
  t.same((await bookingsOf(service, id)).credits, ['20.5000', '0.0100', '29.4900'])
})

t.test('only a settled payment can be refunded, up to its remaining amount', async (t) => {
  const authorised = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:1h' })
  t.match(await refund(service, merchant, authorised), { status: 409, body: { code: 'PAYMENT_NOT_SETTLED' } })
  const id = await settledPayment(service, merchant)
  t.match(await refund(service, merchant, { id, body: { amount: '50.01' } }), {
    status: 422,
    body: { code: 'REFUND_EXCEEDS_AVAILABLE', errors: [{ path: 'amount' }] },
  })
  t.match(await refund(service, merchant, { id, body: { amount: '0' } }), {
    status: 400,
    body: { code: 'VALIDATION_FAILED' },
  })
  t.match(await refund(service, merchant, { id, body: { amount: '0.001' } }), {
    status: 400,
    body: { code: 'VALIDATION_FAILED' },
  })
  for (const reason of ['gone\u001b[2J', 'a\u0007b', 'a\u202eb', ' \n ', 'x'.repeat(256)])
    t.match(await refund(service, merchant, { id, body: { reason } }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ path: 'reason' }] },
    })
  t.match(await refund(service, merchant, { id, body: { amount: '10.00', refund_amount_available: '49.99' } }), {
    status: 412,
    body: { code: 'REFUND_AVAILABLE_MISMATCH' },
  })
  t.same(await amountsOf(id), { refunded: '0.0000', reserved: '0.0000' })
  await refund(service, merchant, { id, body: { amount: '30.00' } })
  t.match(await refund(service, merchant, { id, body: { amount: '20.01' } }), {
    status: 422,
    body: { code: 'REFUND_EXCEEDS_AVAILABLE' },
  })
  await refund(service, merchant, { id })
  t.match(await refund(service, merchant, { id }), { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED' } })
  t.match(await refund(service, merchant, { id, body: { amount: '1.00' } }), {
    status: 409,
    body: { code: 'PAYMENT_ALREADY_REFUNDED' },
  })
})

t.test("another merchant's payment can't be refunded", async (t) => {
  const id = await settledPayment(service, merchant)
  const stranger = await service.merchant()
  t.match(await refund(service, stranger, { id }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.same((await bookingsOf(service, id)).credits, [])
})

t.test('refunds work while a merchant is suspended or held', async (t) => {
  for (const set of [`kyb_status = 'SUSPENDED'`, 'payout_held = true, payout_held_at = now()']) {
    const gated = await service.merchant()
    const id = await settledPayment(service, gated)
    await service.owner.query(`update merchants set ${set} where id = $1`, [gated.id])
    t.equal((await refund(service, gated, { id })).status, 200, set)
  }
})

t.test('a repeat with the same key returns the same refund, and is rejected with another body', async (t) => {
  const id = await settledPayment(service, merchant)
  const key = randomUUID()
  const first = await refund(service, merchant, { id, key, body: { amount: '10', refund_amount_available: '50' } })
  const repeat = await refund(service, merchant, {
    id,
    key,
    body: { amount: '10.00', refund_amount_available: '50.00' },
  })
  t.same([repeat.status, repeat.text], [200, first.text], 'other words for the same, and what was available then')
  t.match(await refund(service, merchant, { id, key, body: { amount: '11.00' } }), {
    status: 422,
    body: { code: 'IDEMPOTENCY_KEY_REUSED' },
  })
  t.match(await refund(service, merchant, { id, key }), { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
  t.same(await amountsOf(id), { refunded: '10.0000', reserved: '0.0000' })
  const other = await settledPayment(service, merchant)
  t.equal(
    (await refund(service, merchant, { id: other, key, body: { amount: '11.00' } })).status,
    200,
    'a key belongs to its payment',
  )
})

t.test('50 concurrent full refunds refund once', async (t) => {
  const id = await settledPayment(service, merchant)
  const answers = await times(50, () => refundWithRetry(service, merchant, { id }))
  t.same(tally(answers.map(({ body }) => body.code ?? 'taken')), {
    taken: 1,
    PAYMENT_ALREADY_REFUNDED: 49,
  })
  await resumeAllRefunds(service, id)
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled', 'Refunded'])
  t.equal((await webhookTypesOf(service, id)).length, 4)
  t.same((await bookingsOf(service, id)).credits, ['50.0000'])
})

t.test('50 concurrent repeats of a refund under one key create one refund', async (t) => {
  const id = await settledPayment(service, merchant)
  const key = randomUUID()
  const answers = await times(50, () => refundWithRetry(service, merchant, { id, key, body: { amount: '7.00' } }))
  t.equal(new Set(answers.map(({ body }) => body.refund_id)).size, 1)
  t.same(
    Object.keys(tally(answers.map(({ status }) => status))).filter((status) => status !== '200' && status !== '202'),
    [],
  )
  await resumeAllRefunds(service, id)
  t.same((await bookingsOf(service, id)).credits, ['7.0000'])
  t.same(await amountsOf(id), { refunded: '7.0000', reserved: '0.0000' })
})

t.test('concurrent partial refunds never refund more than was paid', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const id = await settledPayment(service, merchant)
    const answers = await times(20, () => refundWithRetry(service, merchant, { id, body: { amount: '7.00' } }))
    t.same(tally(answers.map(({ status }) => status)), { '200': 7, '422': 13 })
    t.same(
      (await bookingsOf(service, id)).credits,
      Array.from({ length: 7 }, () => '7.0000'),
    )
    t.same(await amountsOf(id), { refunded: '49.0000', reserved: '0.0000' })
    t.equal((await refund(service, merchant, { id })).body.status, 'Refunded')
    const sequences = (await webhooksOf(service, id)).map(({ sequence }) => sequence)
    t.same(
      sequences,
      sequences.map((_, index) => index + 1),
    )
    const totals = (await webhooksOf(service, id))
      .slice(3)
      .map(({ payload }) => Number(payload.data.refund.refundedTotal))
    t.same(totals, [7, 14, 21, 28, 35, 42, 49, 50], 'each webhook tells the total after its own refund')
  }
})
