import t from 'tap'
import { testService, untilStatus } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { authorisedMandate, payUnder, readMandate } from '../support/mandates.ts'
import { stateOf } from '../support/payments.ts'

const service = await testService(t, { worker: true, env: { SVC_VRP_CAPS: 'enforce' } })

async function advance(merchant: TestMerchant, by: string): Promise<void> {
  const headers = { 'x-platform-user': 'olga' }
  const { status, text } = await service.call('POST', '/api/v1/sandbox/clock/advance', {
    headers,
    body: { merchant_id: merchant.id, by },
  })
  if (status !== 200) throw new Error(text)
}

t.test('the clock reaches the end of a mandate, and the payments under it before', async (t) => {
  const merchant = await service.merchant()
  const { consentId, paymentId } = await authorisedMandate(service, merchant)
  await untilStatus(service, merchant, paymentId, 'Settled')
  const { body: before } = await readMandate(service, merchant, consentId)
  const made = await payUnder(service, merchant, { consentId })
  await advance(merchant, '30d')
  t.equal((await stateOf(service, made.body.payment_id)).payment, 'Settled', 'the clock waits for work in progress')
  const { body: after } = await readMandate(service, merchant, consentId)
  t.equal(Date.parse(before.valid_to) - Date.parse(after.valid_to), 30 * 86_400_000)
  t.match(after, { status: 'AUTHORISED', expires_at: after.valid_to })
  await advance(merchant, '340d')
  t.equal((await stateOf(service, paymentId)).consent, 'EXPIRED')
  t.match(await payUnder(service, merchant, { consentId }), { status: 409, body: { code: 'MANDATE_NOT_USABLE' } })
})

for (const alignment of ['CALENDAR', 'CONSENT']) {
  t.test(`the usage of a limit ages with the sandbox clock: ${alignment}`, async (t) => {
    const [merchant, other] = [await service.merchant(), await service.merchant()]
    const limits = [
      { period: 'WEEK', alignment, max_amount: 60 },
      { period: 'YEAR', alignment, max_amount: 100 },
    ]
    const terms = { control_parameters: { max_amount_per_payment: 60, periodic_limits: limits } }
    const { consentId } = await authorisedMandate(service, merchant, { ...terms, amount: '50.00' })
    const { consentId: theirs } = await authorisedMandate(service, other, { ...terms, amount: '50.00' })
    const usedOf = async () =>
      (await readMandate(service, merchant, consentId)).body.allowances.map(
        ({ used_amount }: { used_amount: string }) => used_amount,
      )
    const pay = (amount: string) => payUnder(service, merchant, { consentId, changes: { amount } })
    t.same(await usedOf(), ['50.00', '50.00'])
    t.match(await pay('20.00'), { status: 422, body: { code: 'MANDATE_LIMIT_EXCEEDED' } })

    await advance(merchant, '7d')
    const [week] = await usedOf()
    t.equal(week, '0.00', 'the week is free again')
    t.match(await pay('20.00'), { status: 201 })
    t.equal((await usedOf())[0], '20.00', 'only payments created since then count')
    t.match(await pay('45.00'), { status: 422, body: { code: 'MANDATE_LIMIT_EXCEEDED' } })
    await advance(merchant, '7d')
    t.equal((await usedOf())[0], '0.00')
    const { body } = await payUnder(service, other, { consentId: theirs, changes: { amount: '20.00' } })
    t.match(body, { code: 'MANDATE_LIMIT_EXCEEDED' }, "no other merchant's clock moved")
  })
}
