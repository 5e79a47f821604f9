import { randomBytes } from 'node:crypto'
import t from 'tap'
import { atBank, createPayment, paymentBody, testService, until } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { plainToken } from '../support/checkout.ts'
import { OPERATOR } from '../support/disputes.ts'
import { capturedLog } from '../support/captured-log.ts'
import { refundWithRetry } from '../support/payments.ts'
import { startReceiver } from '../support/receiver.ts'

/*
 * Traces without an SDK: what a merchant sends as `traceparent` (W3C Trace Context) comes out at its endpoint and in
 * the log. With an SDK: spans.test.ts.
 */
const { log, lines } = capturedLog('info')
const service = await testService(t, { worker: true, overrides: { log } })
const receiver = await startReceiver(t)
const merchant = await service.merchant({ webhookUrl: receiver.url })

/** A payment that the payer approves, and the `traceparent` of each of its webhooks, by event type. */
async function pay(
  headers: Record<string, string>,
  payerHeaders: Record<string, string> = {},
): Promise<{ id: string; sent: Record<string, unknown> }> {
  const created = await service.call('POST', '/api/v1/payments', {
    merchant,
    headers: { 'x-idempotency-key': randomBytes(8).toString('hex'), ...headers },
    body: paymentBody(),
  })
  const id: string = created.body.payment_id
  const back = await atBank(created.body.redirect_url, 'approve')
  await service.call('POST', `/api/v1/payments/${id}/sca-complete`, { headers: payerHeaders, body: back })
  await received(id, 'payment.settled')
  return { id, sent: sentOf(id) }
}

function receiptsOf(id: string) {
  return receiver.receipts
    .map(({ body, headers }) => ({ event: JSON.parse(body.toString()), headers }))
    .filter(({ event }) => event.data.id === id)
}

function sentOf(id: string): Record<string, unknown> {
  return Object.fromEntries(receiptsOf(id).map(({ event, headers }) => [event.eventType, headers['traceparent']]))
}

async function received(id: string, type: string): Promise<void> {
  await until(async () => receiptsOf(id).some(({ event }) => event.eventType === type))
}

const parentOf = (traceId: string) => `00-${traceId}-00f067aa0ba902b7-01`

t.test('the webhooks of a payment continue the trace of the request that created it', async (t) => {
  const traceparent = parentOf('4bf92f3577b34da6a3ce929d0e0e4736')
  const { id, sent } = await pay({ traceparent })
  t.strictSame(sent, {
    'payment.initiated': traceparent,
    'payment.authorized': traceparent,
    'payment.settled': traceparent,
  })
  const named = lines()
    .map((line) => JSON.parse(line))
    .filter((line) => line.trace_id === '4bf92f3577b34da6a3ce929d0e0e4736')
  t.match(
    named.map(({ operation, payment_id: payment, to }) => operation ?? `${payment === id} ${to}`).toSorted(),
    ['createPayment', 'true AwaitingAuthorisation', 'true Settled'],
    'in the log too, whichever process writes it',
  )
})

t.test('a later request with a trace of its own has its webhook in that trace', async (t) => {
  const { id } = await pay({ traceparent: parentOf('a'.repeat(32)) })
  const traceparent = parentOf('b'.repeat(32))
  const path = `/api/v1/payments/${id}/refund`
  const refunded = await service.call('POST', path, { merchant, headers: { traceparent }, body: { amount: '10.00' } })
  t.equal(refunded.status, 200, refunded.text)
  await received(id, 'payment.partially_refunded')
  t.equal(sentOf(id)['payment.partially_refunded'], traceparent)
  await refundWithRetry(service, merchant, { id })
  await received(id, 'payment.refunded')
  t.equal(sentOf(id)['payment.refunded'], parentOf('a'.repeat(32)), 'and without one in that of the payment')
})

t.test('the trace of a payer reaches neither the merchant nor the payment', async (t) => {
  const stranger = { traceparent: parentOf('f'.repeat(32)) }
  const { sent } = await pay({ traceparent: parentOf('1'.repeat(32)) }, stranger)
  t.strictSame(Object.values(sent), Array(3).fill(parentOf('1'.repeat(32))), 'they have the trace of the payment')
  const { sent: unnamed } = await pay({}, stranger)
  t.strictSame(unnamed, {
    'payment.initiated': undefined,
    'payment.authorized': undefined,
    'payment.settled': undefined,
  })
  const shop = await service.merchant({ webhookUrl: receiver.url })
  const started = await service.call('POST', '/api/v1/payments', {
    headers: { 'x-checkout-token': plainToken(service, shop), 'x-idempotency-key': 'traced-checkout', ...stranger },
    body: { debtor_bank_id: 'mock-albion' },
  })
  t.equal(started.status, 201, started.text)
  const { payment_id: id } = started.body
  await received(id, 'payment.initiated')
  t.strictSame(sentOf(id), { 'payment.initiated': undefined })
  t.notMatch(await storedTraces(), /f{32}/)
})

t.test('events of a dispute are in the trace of the payment, whatever an operator sends', async (t) => {
  const traceparent = parentOf('2'.repeat(32))
  const { id } = await pay({ traceparent })
  const disputed = await service.call('POST', `/api/v1/admin/payments/${id}/dispute`, {
    headers: { ...OPERATOR, traceparent: parentOf('f'.repeat(32)) },
    body: { reason: 'UNAUTHORISED', statement: 'The bank asks.' },
  })
  t.equal(disputed.status, 201, disputed.text)
  const disputeId: string = disputed.body.id
  await received(disputeId, 'dispute.opened')
  t.strictSame(sentOf(disputeId), { 'dispute.opened': traceparent })
  const own = parentOf('3'.repeat(32))
  const accepted = await service.call('POST', `/api/v1/portal/disputes/${disputeId}/accept`, {
    merchant,
    headers: { traceparent: own },
  })
  t.equal(accepted.status, 200, accepted.text)
  await received(disputeId, 'dispute.resolved')
  t.equal(sentOf(disputeId)['dispute.resolved'], own, 'but the request of the merchant itself has its own')
  t.notMatch(await storedTraces(), /f{32}/)
})

async function storedTraces(): Promise<string> {
  const { rows } = await service.owner.query(
    'select traceparent from payment_intents union all select traceparent from webhook_deliveries',
  )
  return JSON.stringify(rows)
}

t.test('without a trace nothing is stored, sent or logged', async (t) => {
  const before = lines().length
  const { id, sent } = await pay({})
  t.strictSame(Object.values(sent), [undefined, undefined, undefined])
  const { rows } = await service.owner.query(
    `select p.traceparent as payment, d.traceparent as webhook
     from payment_intents p join webhook_deliveries d on d.payment_intent_id = p.id where p.id = $1`,
    [id],
  )
  t.strictSame(rows, Array(3).fill({ payment: null, webhook: null }))
  t.notMatch(lines().slice(before).join('\n'), /trace_id|span_id/)
})

t.test('a traceparent that is not valid is ignored', async (t) => {
  const id = 'c'.repeat(32)
  for (const traceparent of [
    '',
    'x',
    parentOf(id).toUpperCase(),
    `${parentOf(id)}-more`,
    `ff${parentOf(id).slice(2)}`,
    parentOf('0'.repeat(32)),
    `00-${id}-0000000000000000-01`,
    `00-${id}-00f067aa0ba902b7`,
    `00-${id}-00f067aa0ba902b7-1`,
    `${parentOf(id)}, ${parentOf(id)}`,
    "00-' or 1=1 --",
    '9'.repeat(8_000),
  ])
    t.equal(await errorTrace({ traceparent }), undefined, traceparent.slice(0, 80))
  t.equal(
    await errorTrace({ traceparent: `01${parentOf(id).slice(2)}-more` }),
    id,
    'later versions may have more parts',
  )
})

t.test('an error names its trace', async (t) => {
  const id = 'd'.repeat(32)
  t.equal(await errorTrace({ traceparent: parentOf(id) }), id)
  t.equal(await errorTrace({}), undefined)
})

async function errorTrace(headers: Record<string, string>): Promise<string | undefined> {
  const { status, body } = await service.call('GET', '/api/v1/payments/none', { merchant, headers })
  t.equal(status, 404)
  return body.trace_id
}

t.test('webhooks of other subjects continue the trace of their request', async (t) => {
  const traceparent = parentOf('e'.repeat(32))
  const other: TestMerchant = await service.merchant({ webhookUrl: receiver.url })
  const { status, text } = await service.call('POST', '/api/v1/portal/webhooks/test', {
    merchant: other,
    headers: { traceparent },
  })
  t.equal(status, 202, text)
  await until(async () => receiver.receipts.some(({ headers }) => headers['traceparent'] === traceparent))
  await createPayment(service, other)
})
