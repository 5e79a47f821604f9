import t from 'tap'
import { endConsent } from '../../src/consents/end-consent.ts'
import { payMandates } from '../../src/payments/mandates/pay-mandates.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import type { Explanation } from '../../src/wire/explain.ts'
import { testService } from '../support/app.ts'
import { authorisedMandate, payUnder } from '../support/mandates.ts'

t.test('a payment under a mandate does not wait for its payer', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const { app } = service
  const explained = async (id: string): Promise<Explanation> =>
    (await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })).body
  const { consentId } = await authorisedMandate(service, merchant)

  const { body } = await payUnder(service, merchant, { consentId })
  const waiting = await explained(body.payment_id)
  t.match(waiting.standing, /^waits for the bank mock to accept it under its mandate, without the payer/)
  t.same(
    waiting.next.map(({ on }) => on),
    ['mandate staging', 'mandate rejection'],
  )
  t.notOk(waiting.timeline.some(({ kind }) => kind === 'due' || kind === 'consent'))

  await payMandates(app)
  await settlePayments(app)
  const settled = await explained(body.payment_id)
  t.match(
    settled.timeline.filter(({ kind }) => kind === 'payment').map(({ text }) => text),
    [
      /^created under a mandate: 10.00 GBP/,
      'the bank accepted it (job pay-mandates)',
      'the bank authorised it under the mandate (job pay-mandates)',
      /^the bank executed it/,
    ],
  )

  const second = await payUnder(service, merchant, { consentId })
  await endConsent(app, { merchantId: merchant.id, consentId, by: 'MERCHANT' })
  await payMandates(app)
  const failed = await explained(second.body.payment_id)
  t.match(failed.standing, /CANCELLED_BY_MERCHANT/)
  t.match(failed.timeline.filter(({ kind }) => kind === 'payment').at(-1)?.text, /^The merchant cancelled the payment/)
})
