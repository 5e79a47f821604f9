import t from 'tap'
import { verifySignature } from '../../src/lib/webhook-signature.ts'
import { authorisedPayment, testService, untilStatus } from '../support/app.ts'
import { raiseAsPayer, resolve, submitEvidence } from '../support/disputes.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

t.test('the webhooks of a dispute arrive signed, among those of its payment and in their order', async (t) => {
  const service = await testService(t, { worker: true })
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const { id: paymentId } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, paymentId, 'Settled')
  const { body } = await raiseAsPayer(service, paymentId)
  await submitEvidence(service, merchant, body.id)
  await resolve(service, body.id, { refund: true })
  await until('all six have arrived', () => receiver.receipts.length >= 6)
  const told = receiver.receipts.map((receipt) => JSON.parse(receipt.body.toString('utf8')))
  t.same(
    told.map(({ eventType, data }) => [eventType, data.object, data.sequence]),
    [
      ['payment.initiated', 'transaction', 1],
      ['payment.authorized', 'transaction', 2],
      ['payment.settled', 'transaction', 3],
      ['dispute.opened', 'dispute', 4],
      ['dispute.resolved', 'dispute', 5],
      ['payment.refunded', 'transaction', 6],
    ],
  )
  for (const { headers, body: bytes } of receiver.receipts) {
    t.ok(verifySignature({ secret: merchant.secret, body: bytes, signature: String(headers['x-service-signature']) }))
  }
})

t.test('for a merchant without an endpoint they are listed as waiting', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const { id: paymentId } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, paymentId, 'Settled')
  await raiseAsPayer(service, paymentId)
  const { body } = await service.call('GET', `/api/v1/portal/webhooks?payment_id=${paymentId}`, { merchant })
  t.match(body.data[0], { event_type: 'dispute.opened', payment_id: paymentId, status: 'PENDING', next_retry_at: null })
})
