import { ProxyTracerProvider, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import t from 'tap'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { atBank, authorisedPayment, createPayment, paymentBody, testService, until } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { settledPayment, refund } from '../support/payments.ts'
import { startReceiver } from '../support/receiver.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

/*
 * Traces with an operator's SDK, which the process starts with (docs/operators/traces.md). Without one: traces.test.ts.
 */
const exporter = new InMemorySpanExporter()
const sdk = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
// A process keeps the tracer that it has found. So this one ends, and the files that follow here have no SDK.
const none = new ProxyTracerProvider().getTracer('none')
let isOver = false
trace.setGlobalTracerProvider({
  getTracer: (name, version, options) => {
    const tracer: Tracer = sdk.getTracer(name, version, options)
    return {
      startSpan: (...args) => (isOver ? none : tracer).startSpan(...args),
      startActiveSpan: tracer.startActiveSpan.bind(tracer),
    }
  },
})
t.teardown(() => {
  isOver = true
  trace.disable()
})

const { log, lines } = capturedLog('info')
const service = await testService(t, { worker: true, overrides: { log } })
const receiver = await startReceiver(t, ({ response, receipt }) =>
  response.writeHead(receipt.path.endsWith('/broken') ? 500 : 200).end(),
)
const merchant = await service.merchant({ webhookUrl: receiver.url })

const idOf = (span: ReadableSpan): string => span.spanContext().spanId
const traceOf = (span: ReadableSpan): string => span.spanContext().traceId

/** What a span is about, without ids. */
function named({ name, kind, status, attributes }: ReadableSpan): string {
  const { 'svc.outcome': outcome = '', 'http.response.status_code': code = '' } = attributes
  return `${SpanKind[kind]} ${name} ${String(outcome)} ${String(code)} ${SpanStatusCode[status.code]}`.replaceAll(
    / +/g,
    ' ',
  )
}

const isOf = (id: string) => (span: ReadableSpan) => span.name === 'send webhook' && receiptOf(span)?.data.id === id

function receiptOf(span: ReadableSpan) {
  const receipt = receiver.receipts.find(({ eventId }) => eventId === span.attributes['svc.event_id'])
  return receipt === undefined ? undefined : JSON.parse(receipt.body.toString())
}

t.test('a payment is one trace, from the request that creates it to its last webhook', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  await until(async () => exporter.getFinishedSpans().filter(isOf(id)).length === 3)
  const spans = exporter.getFinishedSpans()
  const sent = spans.filter(isOf(id))
  t.equal(new Set(sent.map(traceOf)).size, 1)
  const [traceId = ''] = sent.map(traceOf)
  const inTrace = spans.filter((span) => traceOf(span) === traceId)
  t.strictSame(inTrace.map(named).toSorted(), [
    ...Array(3).fill('CLIENT send webhook delivered 200 UNSET'),
    'INTERNAL settle payment UNSET',
    'SERVER POST /api/v1/payments 201 UNSET',
  ])
  const create = inTrace.find(({ kind }) => kind === SpanKind.SERVER)
  t.equal(create?.parentSpanContext, undefined, 'it begins with the request')
  const settle = inTrace.find(({ name }) => name === 'settle payment')
  t.equal(settle?.parentSpanContext?.spanId, create && idOf(create))
  for (const span of sent) {
    const receipt = receiver.receipts.find(({ eventId }) => eventId === span.attributes['svc.event_id'])
    t.equal(receipt?.headers['traceparent'], `00-${traceId}-${idOf(span)}-01`, 'the receiver continues the attempt')
    const cause = receiptOf(span).eventType === 'payment.settled' ? settle : create
    t.equal(span.parentSpanContext?.spanId, cause && idOf(cause))
  }
  const logged = lines().map((line) => JSON.parse(line))
  t.match(
    logged.filter(({ trace_id: of }) => of === traceId).map(({ span_id: span }) => span),
    [create && idOf(create), create && idOf(create), settle && idOf(settle)],
    'and lines of the log name the span that they are from',
  )
})

t.test('a caller that sends a traceparent has the request as a part of its trace', async (t) => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const { status } = await service.call('POST', '/api/v1/payments', {
    merchant,
    headers: { 'x-idempotency-key': 'traced-key', traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    body: paymentBody(),
  })
  t.equal(status, 201)
  const ofTrace = () => exporter.getFinishedSpans().filter((span) => traceOf(span) === traceId)
  await until(async () => ofTrace().length === 2)
  const request = ofTrace().find(({ kind }) => kind === SpanKind.SERVER)
  t.equal(request?.parentSpanContext?.spanId, '00f067aa0ba902b7')
})

t.test('the trace of a payer has the span of its request, and no webhook', async (t) => {
  const traceId = 'f'.repeat(32)
  const { body } = await createPayment(service, merchant)
  const back = await atBank(body.redirect_url, 'approve')
  const { status, text } = await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    body: back,
  })
  t.equal(status, 200, text)
  await until(async () => exporter.getFinishedSpans().filter(isOf(body.payment_id)).length === 3)
  await until(async () => exporter.getFinishedSpans().some((span) => traceOf(span) === traceId))
  const spans = exporter.getFinishedSpans()
  t.equal(new Set(spans.filter(isOf(body.payment_id)).map(traceOf)).size, 1)
  t.strictSame(
    spans.filter((span) => traceOf(span) === traceId).map(({ name }) => name),
    ['POST /api/v1/payments/{id}/sca-complete'],
  )
})

t.test('a refund that the job continues is a part of its request, and its webhook of the payment', async (t) => {
  const bank = steeredBank()
  const silent = await testService(t, { overrides: { bank: bank.connector } })
  bank.behind(silent.app.mockBank)
  const shop = await silent.merchant()
  const id = await settledPayment(silent, shop)
  bank.steer('refund', noAnswer)
  t.match(await refund(silent, shop, { id, body: { amount: '1.00' } }), { status: 202 })
  bank.steer('refund', undefined)
  await silent.owner.query(`update payment_refunds set resume_at = now() where status = 'PENDING'`)
  await resumeRefunds(silent.app)
  const spans = exporter.getFinishedSpans()
  const request = spans.find(({ name }) => name === 'POST /api/v1/payments/{id}/refund')
  const resumed = spans.find(({ name }) => name === 'resume refund')
  t.equal(resumed?.parentSpanContext?.spanId, request && idOf(request))
  const { rows } = await silent.owner.query(
    `select d.traceparent = p.traceparent as is_of_payment, d.traceparent from webhook_deliveries d
     join payment_intents p on p.id = d.payment_intent_id
     where d.payment_intent_id = $1 and d.event_type = 'payment.partially_refunded'`,
    [id],
  )
  t.match(rows, [{ is_of_payment: true, traceparent: /^00-/ }])
  t.notMatch(rows[0].traceparent, request && traceOf(request))
})

t.test('a span says what failed, and no more than operators of traces may know', async (t) => {
  const broken = await service.merchant({ webhookUrl: `${receiver.url}/broken` })
  const { body } = await createPayment(service, broken, { payer_name: 'Canary Name' })
  await until(async () => exporter.getFinishedSpans().some(isOf(body.payment_id)))
  const refused = await createPayment(service, broken, { amount: '-1' })
  t.equal(refused.status, 400)
  await until(async () =>
    exporter.getFinishedSpans().some(({ attributes }) => attributes['http.response.status_code'] === 400),
  )
  const spans = exporter.getFinishedSpans()
  t.equal(named(spans.find(isOf(body.payment_id)) as ReadableSpan), 'CLIENT send webhook http_500 500 ERROR')
  t.equal(
    spans.find(({ attributes }) => attributes['http.response.status_code'] === 400)?.status.code,
    SpanStatusCode.UNSET,
    'what the caller did wrong is no failure of the service',
  )
  const names = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))
  t.strictSame([...names].toSorted(), [
    'http.request.method',
    'http.response.status_code',
    'http.route',
    'svc.attempt',
    'svc.delivery_id',
    'svc.event_id',
    'svc.merchant_id',
    'svc.outcome',
  ])
})
