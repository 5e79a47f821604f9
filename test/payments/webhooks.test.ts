import t from 'tap'
import { PaymentStatus } from '../../src/wire/payments.ts'
import { createPayment, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { endConsent, refund, settledPayment, webhooksOf } from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()

const ENVELOPE = ['eventId', 'eventType', 'apiVersion', 'createdAt', 'data']
const DATA = [
  'object',
  'id',
  'endToEndId',
  'consentId',
  'merchantId',
  'financials',
  'status',
  'previousStatus',
  'bankDetails',
  'failure',
  'sequence',
]

async function rowsOf(
  { owner }: TestService,
  id: string,
): Promise<{ text: string; created: string; transaction: string }[]> {
  const { rows } = await owner.query(
    'select payload::text as text, iso_text(created_at) as created, xmin::text as transaction from webhook_deliveries where payment_intent_id = $1 order by sequence',
    [id],
  )
  return rows
}

t.test('the envelope has exactly the documented members, in order', async (t) => {
  const { body } = await createPayment(service, merchant, { debtor_bank_id: 'mock-albion' })
  const [webhook] = await webhooksOf(service, body.payment_id)
  t.strictSame(Object.keys(webhook?.payload), ENVELOPE)
  t.strictSame(Object.keys(webhook?.payload.data), [...DATA, 'test'])
  const [row] = await rowsOf(service, body.payment_id)
  t.strictSame(webhook?.payload, {
    eventId: webhook?.event_id,
    eventType: 'payment.initiated',
    apiVersion: 'v1',
    createdAt: row?.created,
    data: {
      object: 'transaction',
      id: body.payment_id,
      endToEndId: body.end_to_end_id,
      consentId: body.consent_id,
      merchantId: merchant.id,
      financials: { grossAmount: '50.00', feeAmount: '0.70', netAmount: '49.30', currency: 'GBP' },
      status: 'AWAITING_AUTHORISATION',
      previousStatus: null,
      bankDetails: { providerId: 'mock-albion' },
      failure: null,
      sequence: 1,
      test: true,
    },
  })
  t.match(webhook?.event_id, /^evt_\d{13}_[a-z2-7]{16}$/)
  t.match(row?.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

t.test('the webhooks of a payment come in order, each with the status before and after', async (t) => {
  const id = await settledPayment(service, merchant)
  await refund(service, merchant, { id, body: { amount: '20.00' } })
  await refund(service, merchant, { id })
  const told = (await webhooksOf(service, id)).map(({ event_type, sequence, payload: { data } }) => [
    event_type,
    sequence,
    data.sequence,
    data.previousStatus,
    data.status,
  ])
  t.strictSame(told, [
    ['payment.initiated', 1, 1, null, 'AWAITING_AUTHORISATION'],
    ['payment.authorized', 2, 2, 'AWAITING_AUTHORISATION', 'AUTHORISED'],
    ['payment.settled', 3, 3, 'AUTHORISED', 'SETTLED'],
    ['payment.partially_refunded', 4, 4, 'SETTLED', 'SETTLED'],
    ['payment.refunded', 5, 5, 'SETTLED', 'REFUNDED'],
  ])
  for (const { text } of await rowsOf(service, id))
    t.equal(text, JSON.stringify(JSON.parse(text)), 'without white space')
})

t.test('each status of a payment has its text, and none has none', async (t) => {
  const { rows } = await service.owner.query<{ status: string | null; text: string | null }>(
    `select status::text, status_text(status) as text
     from unnest(enum_range(null::payment_status) || null::payment_status) as status`,
  )
  const expected = PaymentStatus.options.map((status) => [
    status,
    status.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase(),
  ])
  t.strictSame(
    rows.map(({ status, text }) => [status, text]),
    [...expected, [null, null]],
  )
})

t.test('a refund adds its object, a failure fills its own, and neither changes the rest', async (t) => {
  const id = await settledPayment(service, merchant)
  const { body } = await refund(service, merchant, { id })
  const refunded = (await webhooksOf(service, id)).at(-1)
  t.strictSame(Object.keys(refunded?.payload.data).toSorted(), [...DATA, 'refund', 'test'].toSorted())
  t.strictSame(refunded?.payload.data.refund, { id: body.refund_id, amount: '50.00', refundedTotal: '50.00' })
  const { body: waiting } = await createPayment(service, merchant)
  await endConsent(service, waiting.payment_id)
  await service.call('GET', `/api/v1/payments/${waiting.payment_id}`, { merchant })
  const failed = (await webhooksOf(service, waiting.payment_id)).at(-1)
  t.strictSame(Object.keys(failed?.payload.data), [...DATA, 'test'])
  t.strictSame(failed?.payload.data.failure, {
    code: 'CONSENT_EXPIRED',
    reason: 'The consent expired before the payer authorised it',
    source: 'PLATFORM',
    isoCode: 'TKXP',
  })
})

t.test("amounts have the currency's digits, and more only where they are not zero", async (t) => {
  const precise = await service.merchant({ feePercentage: '0.0125', feeFlat: '0.00' })
  const { body } = await createPayment(service, precise, { amount: '57.01', currency: 'EUR' })
  const [webhook] = await webhooksOf(service, body.payment_id)
  t.strictSame(webhook?.payload.data.financials, {
    grossAmount: '57.01',
    feeAmount: '0.7126',
    netAmount: '56.2974',
    currency: 'EUR',
  })
  t.match(body, { gross_amount: '57.01', fee_amount: '0.7126', net_amount: '56.2974' })
})

t.test('a bank id with any characters is sent unchanged', async (t) => {
  const bankId = '"}],\\ %s \u2028 é\n'
  const { body } = await createPayment(service, merchant, { debtor_bank_id: bankId })
  t.equal((await webhooksOf(service, body.payment_id))[0]?.payload.data.bankDetails.providerId, bankId)
  const [row] = await rowsOf(service, body.payment_id)
  t.equal(row?.text, JSON.stringify(JSON.parse(row?.text ?? '')))
})

t.test('a webhook is written in the transaction of the change that it announces', async (t) => {
  const id = await settledPayment(service, merchant)
  await refund(service, merchant, { id })
  const deliveries = await rowsOf(service, id)
  const { rows: events } = await service.owner.query(
    'select xmin::text as transaction from payment_events where payment_intent_id = $1 order by ordinal',
    [id],
  )
  t.same(
    deliveries.map(({ transaction }) => transaction),
    events.map(({ transaction }) => transaction),
  )
  t.equal(new Set(events.map(({ transaction }) => transaction)).size, 4)
})

t.test("a webhook that can't be written rolls back its change", async (t) => {
  const { body } = await createPayment(service, merchant)
  await service.owner.query(
    `alter table webhook_deliveries add constraint refused check (event_type <> 'payment.failed') not valid`,
  )
  const answer = await service.call('POST', `/api/v1/payments/${body.payment_id}/cancel`, { merchant })
  await service.owner.query('alter table webhook_deliveries drop constraint refused')
  t.equal(answer.status, 500)
  const read = await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })
  t.match(read.body, { status: 'AwaitingAuthorisation', consent_status: 'AWAITING_AUTHORISATION' })
  t.equal(read.body.status_history.length, 1)
  t.equal((await webhooksOf(service, body.payment_id)).length, 1)
})
