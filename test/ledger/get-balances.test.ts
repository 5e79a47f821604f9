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
  const nothing = { payout_blocked_by: null }
  const eur = { currency: 'EUR', clearing: '98.80', ...none, total: '98.80', fees_paid: '1.20', ...nothing }
  const gbp = { currency: 'GBP', clearing: '49.30', ...none, total: '49.30', fees_paid: '0.70', ...nothing }
  t.same((await read()).data, [eur, gbp])
  await keepBalances(service.app)
  t.same((await read()).data, [eur, gbp])
  const headers = await service.operator('SUPPORT')
  const list = async (query: string) => (await service.call('GET', `/api/v1/admin/balances${query}`, { headers })).body
  const ofShop = await list(`?merchant_id=${shop.id}`)
  t.match(ofShop, {
    data: [
      { merchant_id: shop.id, currency: 'EUR', bank: '100.00', total: '98.80', fees_earned: '1.20', rounding: '0.00' },
      { trading_name: 'Acme', realm_slug: shop.realm, currency: 'GBP', bank: '50.00', fees_earned: '0.70' },
    ],
    totals: [{ bank: '100.00' }, { bank: '50.00' }],
  })
  const first = await list('?limit=2')
  const second = await list(`?limit=2&cursor=${first.next_cursor}`)
  t.match([first.data.length, second.data.length, second.has_more], [2, 1, false])
  const both = [{ currency: 'EUR' }, { currency: 'GBP', bank: '100.00', total: '98.60', fees_earned: '1.40' }]
  t.match([first.totals, second.totals], [both, both], 'the platform, whatever the page')
  t.match(await list('?merchant_id=acme'), { data: [], totals: [] })
  t.match(await list('?cursor=x'), { errors: [{ path: 'cursor' }] })
  await refund(service, shop, { id })
  t.same((await read()).data, [eur, { ...gbp, clearing: '-0.70', total: '-0.70' }], 'the fee stays, so it is owed')
})
