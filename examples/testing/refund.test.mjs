// A scenario as a test of your own. Here with node:test (node --test examples/testing); tap and vitest do as well.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sandbox } from '@svc/svc/testing'

let box
before(async () => {
  box = await sandbox() // the service that runs here (svc up), or one for this file alone
})
after(() => box.close())

test('a payment settles and is refunded in two parts', async () => {
  const shop = await box.scenario({ merchant: { fee_percentage: '0.0100', fee_flat: '0.20' } })
  const payment = await shop.pay({ amount: '50.00', currency: 'GBP', bank: 'approve' })
  assert.equal(payment.net_amount, '49.30') // 50.00, less 1 % and 0.20
  await shop.await({ payment, status: 'Settled' })
  await shop.paymentsRefund({ payment, amount: '20.00', expect: { remaining_amount: '30.00' } })
  await shop.paymentsRefund({ payment, expect: { status: 'Refunded' } })
  await shop.webhooks({ for: payment, in_order: ['payment.settled', 'payment.partially_refunded', 'payment.refunded'] })
  assert.equal((await shop.payment(payment)).refunded_amount, '50.00')
})

test('a merchant whose payouts are held takes no payments until they are released', async () => {
  const shop = await box.scenario({ merchant: { payout_held: true } })
  const pay = () => shop.pay({ amount: '12.50', currency: 'GBP' })
  const { message } = await shop.expectError(pay, { http: 403, code: 'PAYOUT_HELD' })
  assert.match(message, /held/)
  await shop.holdRelease({ reason: 'looked at' })
  assert.equal((await pay()).status, 'AwaitingAuthorisation')
})
