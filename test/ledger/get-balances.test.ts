import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { testService } from '../support/app.ts'
import { refund, settledPayment } from '../support/payments.ts'

const service = await testService(t)

t.test("a merchant's balances are its own, per currency, before and after they are folded", async (t) => {
  const [shop, other] = [await service.merchant(), await service.merchant()]
  const read = async () => (await service.call('GET', '/api/v1/portal/balances', { merchant: shop })).body
  t.same(await read(), { data: [], has_more: false, next_cursor: null }, 'nothing has settled')
  const id = await settledPayment(service, shop)
  await settledPayment(service, shop, { amount: '100.00', currency: 'EUR' })
  await settledPayment(service, other)
  const none = { merchant_payable: '0.00', held: '0.00', payouts_in_transit: '0.00' }
  const eur = { currency: 'EUR', clearing: '98.80', ...none, total: '98.80', fees_paid: '1.20' }
  const gbp = { currency: 'GBP', clearing: '49.30', ...none, total: '49.30', fees_paid: '0.70' }
  t.same((await read()).data, [eur, gbp])
  await keepBalances(service.app)
  t.same((await read()).data, [eur, gbp])
  await refund(service, shop, { id })
  t.same((await read()).data, [eur, { ...gbp, clearing: '-0.70', total: '-0.70' }], 'the fee stays, so it is owed')
})
