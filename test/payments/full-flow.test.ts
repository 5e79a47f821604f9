import t from 'tap'
import { authorisedPayment, createPayment, testService, untilStatus } from '../support/app.ts'

t.test('a payment is created, authorised, settled and refunded', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const created = await createPayment(service, merchant)
  t.equal(created.status, 201)
  t.match(created.body, {
    status: 'AwaitingAuthorisation',
    gross_amount: '50.00',
    fee_amount: '0.70',
    net_amount: '49.30',
    currency: 'GBP',
  })
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  const refunded = await service.call('POST', `/api/v1/payments/${id}/refund`, { merchant })
  t.equal(refunded.status, 200, refunded.text)
  t.match(refunded.body, {
    payment_id: id,
    status: 'Refunded',
    refund_status: 'EXECUTED',
    refunded_amount: '50.00',
    remaining_amount: '0.00',
  })
  const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
  t.same(
    body.status_history.map((change: { new_status: string; changed_by: string }) => [
      change.new_status,
      change.changed_by,
    ]),
    [
      ['AwaitingAuthorisation', 'MERCHANT_API'],
      ['Authorised', 'BANK_CALLBACK'],
      ['Settled', 'BATCH_JOB'],
      ['Refunded', 'MERCHANT_API'],
    ],
  )
  const webhooks = await service.call('GET', '/api/v1/portal/webhooks', { merchant })
  t.equal(webhooks.body.data.length, 5)
})
