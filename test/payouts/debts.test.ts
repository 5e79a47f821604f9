import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { listPayees } from '../../src/payouts/create-sql.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService } from '../support/app.ts'
import { balancesOf, entriesOf, postFor } from '../support/ledger.ts'
import { closedSettlement, payableMerchant, payoutsOf, transfersOf } from '../support/payouts.ts'

const service = await testService(t)
const { app } = service
const OPERATOR = { 'x-platform-user': 'olga' }

t.test('what a merchant owes since its settlements closed is kept back from its payout', async (t) => {
  const merchant = await payableMerchant(service)
  await postFor(service, merchant.id, ['payment_refunded', '20.3044'])
  await createPayouts(app)
  await sendPayouts(app)
  const [payout] = await payoutsOf(service, merchant)
  t.match(payout, { status: 'PAID', amount: '29.0000' })
  t.same(await transfersOf(service, merchant), [2900])
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '-0.0044', merchant_payable: '0.0000' } })
  t.match(await service.call('GET', `/api/v1/portal/payouts/${payout?.id}`, { merchant }), {
    body: { amount: '29.00', debt_deducted: '20.30', settlement_ids: [merchant.settlementId] },
  })
  const next = await closedSettlement(service, merchant, { amount: '1.0000' })
  t.match(await service.call('GET', `/api/v1/portal/settlements/${next}`, { merchant }), {
    body: { refunded_amount: '20.3044', deducted_amount: '20.30', rounding_amount: '0.0044', payable_amount: '1.00' },
  })
  const lines = await service.call('GET', `/api/v1/portal/settlements/${next}/lines`, { merchant })
  t.match(
    lines.body.data.map(({ kind }: { kind: string }) => kind),
    ['REFUND', 'DEBT', 'PAYMENT', 'ROUNDING'],
  )
})

t.test('with more debt than money nothing is paid, until there is more', async (t) => {
  const merchant = await payableMerchant(service)
  await postFor(service, merchant.id, ['payment_refunded', '49.3000'])
  await createPayouts(app)
  await sendPayouts(app)
  t.same(await payoutsOf(service, merchant), [])
  const balances = await service.call('GET', '/api/v1/portal/balances', { merchant })
  t.match(balances.body.data, [{ payout_blocked_by: 'MERCHANT_IN_DEBT' }])
  const payees = await listPayees(app.pool, 100)
  t.notOk(
    payees.some((payee) => payee.merchant_id === merchant.id),
    'it takes no place of those that can be paid',
  )
  await closedSettlement(service, merchant, { amount: '10.0000' })
  t.same(await payoutsOf(service, merchant), [], 'its debt is carried over')
  await closedSettlement(service, merchant, { amount: '60.0000' })
  await createPayouts(app)
  await sendPayouts(app)
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID', amount: '70.0000' }])
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '0.0000' } })
})

t.test('a payout that fails restores the debt, and the next one reckons with the debt of then', async (t) => {
  const merchant = await payableMerchant(service)
  const body = { merchant_id: merchant.id, fail_payout: '100%' }
  await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
  await postFor(service, merchant.id, ['payment_refunded', '9.3000'])
  await createPayouts(app)
  const [{ id } = { id: '' }] = await payoutsOf(service, merchant)
  await sendPayouts(app)
  t.match(await entriesOf(service, id), [
    { movement: 'debt_deducted', amount: '9.3000' },
    { movement: 'debt_restored', amount: '9.3000' },
    { movement: 'payout_failed', amount: '40.0000' },
    { movement: 'payout_sent', amount: '40.0000' },
  ])
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '-9.3000', merchant_payable: '49.3000' } })
})
