import t from 'tap'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { authorisedPayment, testService } from '../support/app.ts'
import { accept, raise, resolve, submitEvidence } from '../support/disputes.ts'
import { balancesOf, entriesOf } from '../support/ledger.ts'
import { refund, settledPayment, times } from '../support/payments.ts'

const service = await testService(t)
const { app } = service

t.test('a settled payment posts its gross amount and its fee, with the move', async (t) => {
  const shop = await service.merchant({ feePercentage: '0.0333', feeFlat: '0.07' })
  const { id } = await authorisedPayment(service, shop, { amount: '12.34' })
  t.same(await entriesOf(service, id), [])
  await settlePayments(app)
  t.same(await entriesOf(service, id), [
    { movement: 'fee_taken', debit: 'clearing', credit: 'fees_earned', amount: '0.4809', currency: 'GBP' },
    { movement: 'payment_settled', debit: 'bank', credit: 'clearing', amount: '12.3400', currency: 'GBP' },
  ])
  t.match(await balancesOf(service, shop), { GBP: { bank: '12.3400', clearing: '11.8591', fees_earned: '0.4809' } })
})

t.test('a payment without a fee posts its gross amount alone, and a failed one nothing', async (t) => {
  const free = await service.merchant({ feePercentage: '0.0000', feeFlat: '0.00' })
  const { id } = await authorisedPayment(service, free)
  const failed = await authorisedPayment(service, free, { scenario: 'settlement-fails' })
  await settlePayments(app)
  t.same(
    (await entriesOf(service, id)).map(({ movement }) => movement),
    ['payment_settled'],
  )
  t.same(await entriesOf(service, failed.id), [])
})

t.test('payments that are settled at once post each once, into the balances of their own merchants', async (t) => {
  const shops = [await service.merchant(), await service.merchant()]
  for (const shop of shops) for (let n = 0; n < 5; n += 1) await authorisedPayment(service, shop)
  await times(4, () => settlePayments(app))
  for (const shop of shops)
    t.match(await balancesOf(service, shop), { GBP: { bank: '250.0000', clearing: '246.5000', fees_earned: '3.5000' } })
})

async function refundEntries(answer: { body: { refund_id: string } }): Promise<unknown> {
  return entriesOf(service, answer.body.refund_id)
}

t.test('each refund posts what the bank gave back, in part or in full, and the fee stays', async (t) => {
  const shop = await service.merchant()
  const id = await settledPayment(service, shop)
  const part = await refund(service, shop, { id, body: { amount: '20.50' }, key: 'one' })
  const again = await refund(service, shop, { id, body: { amount: '20.50' }, key: 'one' })
  t.equal(again.body.refund_id, part.body.refund_id)
  const rest = await refund(service, shop, { id })
  const entry = { movement: 'payment_refunded', debit: 'clearing', credit: 'bank', currency: 'GBP' }
  t.same(await refundEntries(part), [{ ...entry, amount: '20.5000' }])
  t.same(await refundEntries(rest), [{ ...entry, amount: '29.5000' }])
  t.match(await balancesOf(service, shop), { GBP: { bank: '0.0000', clearing: '-0.7000', fees_earned: '0.7000' } })
})

t.test('a refund that the bank rejects posts nothing', async (t) => {
  const shop = await service.merchant()
  const id = await settledPayment(service, shop, { scenario: 'refund-fails' })
  const { status } = await refund(service, shop, { id })
  t.equal(status, 409)
  t.match(await balancesOf(service, shop), { GBP: { bank: '50.0000', clearing: '49.3000' } })
})

async function refundOf(disputeId: string): Promise<string> {
  const { rows } = await service.owner.query('select refund_id from disputes where id = $1', [disputeId])
  return rows[0].refund_id
}

t.test('the refund of a dispute is a movement of its own, posted once by jobs that run at the same time', async (t) => {
  const shop = await service.merchant()
  const id = await settledPayment(service, shop)
  const { body } = await raise(service, shop, id)
  await submitEvidence(service, shop, body.id)
  await resolve(service, body.id, { refund: true })
  await times(3, () => resumeRefunds(app))
  t.same(await entriesOf(service, await refundOf(body.id)), [
    { movement: 'dispute_refunded', debit: 'clearing', credit: 'bank', amount: '50.0000', currency: 'GBP' },
  ])
  t.match(await balancesOf(service, shop), { GBP: { bank: '0.0000', clearing: '-0.7000' } })
})

t.test('so is the refund of a dispute that the merchant accepts', async (t) => {
  const shop = await service.merchant()
  const id = await settledPayment(service, shop)
  const { body } = await raise(service, shop, id)
  await accept(service, shop, body.id, { body: { refund: true } })
  await resumeRefunds(app)
  t.match(await entriesOf(service, await refundOf(body.id)), [{ movement: 'dispute_refunded' }])
})
