import t from 'tap'
import { verifySignature } from '../../src/lib/webhook-signature.ts'
import { sampleData } from '../../src/wire/webhook-samples.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { payloadOf } from '../../src/wire/webhook-payloads.ts'
import { testService } from '../support/app.ts'
import { refund, settledPayment, webhooksOf } from '../support/payments.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

/** The names of all members, at every depth, in their order: `financials.currency`. */
function membersOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, each]) => membersOf(each, path === '' ? name : `${path}.${name}`))
}

const PARTS = {
  merchantId: '0198c0de-0000-7000-8000-000000000001',
  paymentId: '0198c0de-0000-7000-8000-000000000002',
  consentId: '0198c0de-0000-7000-8000-000000000003',
  refundId: '0198c0de-0000-7000-8000-000000000004',
  disputeId: '0198c0de-0000-7000-8000-000000000005',
  payoutId: '0198c0de-0000-7000-8000-000000000006',
  bankAccountId: '0198c0de-0000-7000-8000-000000000007',
  endToEndId: 'SVC0198c0de',
  now: '2026-11-21T09:30:00.000Z',
  evidenceSeconds: 1_209_600,
}

t.test('a made-up event of a payment has the members of a real one, in their order', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const refunded = await settledPayment(service, merchant)
  await refund(service, merchant, { id: refunded, body: { amount: '10.00' } })
  await refund(service, merchant, { id: refunded })
  const unrefunded = await settledPayment(service, merchant, { scenario: 'refund-fails' })
  await refund(service, merchant, { id: unrefunded })
  const failed = await settledPayment(service, merchant, { scenario: 'insufficient-funds' })
  const real = new Map<string, { data: Record<string, unknown> }>()
  for (const id of [refunded, unrefunded, failed])
    for (const { event_type, payload } of await webhooksOf(service, id)) {
      real.set(event_type, payload)
      t.same(payloadOf(EventType.parse(event_type)).parse(payload), payload, `${event_type} is as it is described`)
    }
  const types = EventType.options.filter((type) => /^(payment|refund)\./.test(type))
  t.strictSame(new Set(real.keys()), new Set(types), 'each of them has happened')
  for (const type of types) {
    const made = sampleData(type, PARTS)
    const { data = {} } = real.get(type) ?? {}
    t.strictSame(membersOf(made), membersOf(data), type)
    for (const member of ['object', 'status', 'previousStatus'])
      t.equal(made[member], data[member], `${type} ${member}`)
    for (const [member, value] of Object.entries(made)) t.equal(typeof value, typeof data[member], `${type} ${member}`)
    t.equal(made['test'], true)
  }
})

t.test('a made-up event of a dispute has the members of decision 35', async (t) => {
  const decided = [
    'object',
    'id',
    'paymentId',
    'endToEndId',
    'merchantId',
    'openedBy',
    'reason',
    'status',
    'amount.grossAmount',
    'amount.currency',
    'payerStatement',
    'evidenceDueAt',
    'openedAt',
    'resolvedAt',
    'resolutionNote',
    'refunded',
  ]
  const expected = [
    ['dispute.opened', 'OPEN'],
    ['dispute.escalated', 'ESCALATED'],
    ['dispute.resolved', 'RESOLVED_MERCHANT_FAVOUR'],
  ] as const
  for (const [type, status] of expected) {
    const made = sampleData(type, PARTS)
    t.strictSame(membersOf(made), [...decided, 'sequence', 'test'], type)
    t.match(made, { object: 'dispute', status, test: true, evidenceDueAt: '2026-12-05T09:30:00.000Z' })
    t.equal(made['resolvedAt'] === null, type !== 'dispute.resolved')
  }
})

t.test('a made-up event of a dispute has the members of a real one, in their order', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const id = await settledPayment(service, merchant)
  const raised = await service.call('POST', `/api/v1/payments/${id}/dispute`, {
    merchant,
    body: { reason: 'DUPLICATE_PAYMENT', statement: 'It was paid twice.' },
  })
  t.equal(raised.status, 201, raised.text)
  const operator = await service.operator('OWNER')
  const escalated = await service.call('PUT', `/api/v1/admin/disputes/${raised.body.id}/escalate`, {
    headers: operator,
    body: { reason: 'It is unclear.', assignee: 'ada' },
  })
  t.equal(escalated.status, 200, escalated.text)
  const resolved = await service.call('PUT', `/api/v1/admin/disputes/${raised.body.id}/resolve`, {
    headers: operator,
    body: { status: 'RESOLVED_MERCHANT_FAVOUR', resolution_note: 'It was not.' },
  })
  t.equal(resolved.status, 200, resolved.text)
  const real = (await webhooksOf(service, id)).filter(({ event_type }) => event_type.startsWith('dispute.'))
  t.strictSame(
    real.map(({ event_type }) => event_type),
    ['dispute.opened', 'dispute.escalated', 'dispute.resolved'],
  )
  for (const { event_type, payload } of real) {
    t.strictSame(membersOf(sampleData(EventType.parse(event_type), PARTS)), membersOf(payload.data), event_type)
    t.same(payloadOf(EventType.parse(event_type)).parse(payload), payload, `${event_type} is as it is described`)
  }
})

t.test('every type can be sent to try an endpoint: signed, delivered, and in the feed', async (t) => {
  const service = await testService(t, { worker: true })
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const types = EventType.options
  for (const event_type of types) {
    const answer = await service.call('POST', '/api/v1/portal/webhooks/test', { merchant, body: { event_type } })
    t.match(answer, {
      status: 202,
      body: { event_type, status: 'PENDING', attempt_count: 0, payment_id: null, next_retry_at: String },
    })
    await until(`${event_type} is delivered`, async () => {
      const { body } = await service.call('GET', `/api/v1/portal/webhooks/${answer.body.id}`, { merchant })
      return body.status === 'DELIVERED'
    })
    const receipt = receiver.receipts.find(({ eventId }) => eventId === answer.body.event_id)
    const body = receipt?.body ?? Buffer.alloc(0)
    const signature = String(receipt?.headers['x-service-signature'])
    t.ok(verifySignature({ secret: merchant.secret, body, signature }), `${event_type} verifies`)
    t.match(JSON.parse(body.toString()), {
      eventId: answer.body.event_id,
      eventType: event_type,
      apiVersion: 'v1',
      createdAt: /Z$/,
      data: { merchantId: merchant.id, test: true },
    })
  }
  t.equal(receiver.receipts.length, types.length)
  const { body: byDefault } = await service.call('POST', '/api/v1/portal/webhooks/test', { merchant })
  t.equal(byDefault.event_type, 'payment.settled', 'as the contract has it')
  await until('all are in the feed', async () => {
    const { body } = await service.call('GET', '/api/v1/portal/events', { merchant })
    return body.data.length === types.length + 1
  })
  const { rows } = await service.owner.query('select from payment_intents')
  t.equal(rows.length, 0, 'no payment was made')
})
