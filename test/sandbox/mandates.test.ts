import t from 'tap'
import { testService, untilStatus } from '../support/app.ts'
import { authorisedMandate, payUnder, readMandate } from '../support/mandates.ts'
import { stateOf } from '../support/payments.ts'

t.test('the clock reaches the end of a mandate, and what is paid under it before', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const { consentId, paymentId } = await authorisedMandate(service, merchant)
  await untilStatus(service, merchant, paymentId, 'Settled')
  const advance = (by: string) =>
    service.call('POST', '/api/v1/sandbox/clock/advance', {
      headers: { 'x-platform-user': 'olga' },
      body: { merchant_id: merchant.id, by },
    })
  const { body: before } = await readMandate(service, merchant, consentId)
  const made = await payUnder(service, merchant, { consentId })
  t.equal((await advance('30d')).status, 200)
  t.equal((await stateOf(service, made.body.payment_id)).payment, 'Settled', 'the clock waits for what is under way')
  const { body: after } = await readMandate(service, merchant, consentId)
  t.equal(Date.parse(before.valid_to) - Date.parse(after.valid_to), 30 * 86_400_000)
  t.match(after, { status: 'AUTHORISED', expires_at: after.valid_to })
  t.equal((await advance('340d')).status, 200)
  t.equal((await stateOf(service, paymentId)).consent, 'EXPIRED')
  t.match(await payUnder(service, merchant, { consentId }), { status: 409, body: { code: 'MANDATE_NOT_USABLE' } })
})
