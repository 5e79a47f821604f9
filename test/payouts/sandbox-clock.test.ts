import t from 'tap'
import { settledPayment } from '../support/payments.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { payoutAccount, payoutsOf } from '../support/payouts.ts'

const service = await testService(t, { worker: true })
const OPERATOR = { 'x-platform-user': 'olga' }

async function advance(merchant: TestMerchant, by: string): Promise<void> {
  const body = { merchant_id: merchant.id, by }
  const moved = await service.call('POST', '/api/v1/sandbox/clock/advance', { headers: OPERATOR, body })
  if (moved.status !== 200) throw new Error(moved.text)
}

async function faults(merchant: TestMerchant, settings: object): Promise<void> {
  const body = { merchant_id: merchant.id, ...settings }
  await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
}

async function statusesOf(merchant: TestMerchant): Promise<string[]> {
  return (await payoutsOf(service, merchant)).map(({ status }) => status)
}

t.test('a day of the merchant settles its payments and pays them out', async (t) => {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant)
  await settledPayment(service, merchant)
  t.same(await payoutsOf(service, merchant), [])
  await advance(merchant, '25h')
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID', amount: '49.3000' }])
})

t.test('a failed payout is retried as the clock advances, and a returned one is not', async (t) => {
  const merchant = await service.merchant()
  const first = await payoutAccount(service, merchant)
  await settledPayment(service, merchant)
  await faults(merchant, { fail_payout: '100%' })
  await advance(merchant, '24h')
  t.match((await statusesOf(merchant))[0], 'FAILED')
  const failures = await statusesOf(merchant)
  await faults(merchant, { return_payout: '100%' })
  await advance(merchant, '24h')
  t.same(await statusesOf(merchant), [...failures, 'RETURNED'])
  await faults(merchant, {})
  await advance(merchant, '48h')
  t.same(await statusesOf(merchant), [...failures, 'RETURNED'], 'not to the same account')
  await payoutAccount(service, merchant)
  await advance(merchant, '1m')
  const payouts = await payoutsOf(service, merchant)
  t.match(payouts.at(-1), { status: 'PAID', amount: '49.3000' })
  t.not(payouts.at(-1)?.bank_account_id, first)
})

t.test('a held merchant and a silent bank do not stop the clock', async (t) => {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant)
  await settledPayment(service, merchant)
  const hold = (held: boolean) =>
    service.call('PUT', `/api/v1/admin/merchants/${merchant.id}/hold`, {
      headers: OPERATOR,
      body: { payout_held: held, reason: 'to be checked' },
    })
  await hold(true)
  await advance(merchant, '48h')
  t.same(await payoutsOf(service, merchant), [])
  await hold(false)
  await faults(merchant, { unavailable: '100%' })
  await advance(merchant, '3h')
  t.same(await statusesOf(merchant), ['SENT'])
  await faults(merchant, {})
  await advance(merchant, '2h')
  t.same(await statusesOf(merchant), ['PAID'])
})
