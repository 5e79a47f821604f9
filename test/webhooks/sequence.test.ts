import t from 'tap'
import { completeSca, refund } from '../support/payments.ts'
import { atBank, createPayment, testService, untilStatus } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

t.test('a payment continues after its 32767th event, and its events are still sent in order', async (t) => {
  const service = await testService(t, { worker: true })
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const { body: payment } = await createPayment(service, merchant)
  const { payment_id: id, redirect_url: address } = payment
  await service.owner.query('update payment_intents set webhook_sequence = 32767 where id = $1', [id])
  t.equal((await completeSca(service, id, await atBank(address, 'approve'))).status, 200)
  await untilStatus(service, merchant, id, 'Settled')
  for (const body of [{ amount: '0.50' }, undefined])
    t.match(await refund(service, merchant, { id, body }), { status: 200 })
  await untilStatus(service, merchant, id, 'Refunded')
  await until('all are delivered', () => receiver.receipts.length === 5)
  const received = receiver.receipts.map(({ body }) => {
    const { eventType, data } = JSON.parse(body.toString())
    return [data.sequence, eventType]
  })
  t.strictSame(received, [
    [1, 'payment.initiated'],
    [32_768, 'payment.authorized'],
    [32_769, 'payment.settled'],
    [32_770, 'payment.partially_refunded'],
    [32_771, 'payment.refunded'],
  ])
})
