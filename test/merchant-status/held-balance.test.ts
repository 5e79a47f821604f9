import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { byHandOf } from '../support/by-hand.ts'
import { balancesOf, postFor } from '../support/ledger.ts'
import { closedSettlement, payableMerchant, payoutWebhooksOf, payoutsOf } from '../support/payouts.ts'

const service = await testService(t)
const { app, owner } = service
const headers = await service.operator('OPS')
const byHand = byHandOf(owner)

const hold = ({ id }: TestMerchant, payout_held: boolean) =>
  service.call('PUT', `/api/v1/admin/merchants/${id}/hold`, { headers, body: { payout_held, reason: 'odd' } })

async function differences({ id }: TestMerchant): Promise<Record<string, unknown>[]> {
  const { body } = await service.call('GET', `/api/v1/admin/reconciliation?merchant_id=${id}`, { headers })
  // What the settlements of these tests pay for are no payments.
  return body.differences.filter(({ kind }: { kind: string }) => kind !== 'LEDGER_WITHOUT_PAYMENT')
}

t.test('a hold sets aside what is payable, in every currency, and the release gives it back', async (t) => {
  const merchant = await payableMerchant(service)
  await closedSettlement(service, merchant, { amount: '20.0000', currency: 'EUR' })
  t.match(await hold(merchant, true), { status: 200 })
  const held = {
    GBP: { merchant_payable: '0.0000', held: '49.3000' },
    EUR: { merchant_payable: '0.0000', held: '20.0000' },
  }
  t.match(await balancesOf(service, merchant), held)
  await hold(merchant, true)
  t.match(await balancesOf(service, merchant), held, 'once')
  await closedSettlement(service, merchant, { amount: '5.0000' })
  await createPayouts(app)
  t.same(await payoutsOf(service, merchant), [])
  t.match(await service.call('GET', '/api/v1/portal/balances', { merchant }), {
    body: {
      data: [
        { currency: 'EUR', held: '20.00' },
        { held: '49.30', merchant_payable: '5.00', total: '54.30' },
      ],
    },
  })
  t.same(await differences(merchant), [])
  await hold(merchant, false)
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '54.3000', held: '0.0000' } })
  await createPayouts(app)
  await sendPayouts(app)
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID', amount: '54.3000', currency: 'GBP' }])
  t.same(await differences(merchant), [])
})

t.test(
  'what stops the payouts of a merchant cancels those that are not sent, and nothing goes out in full later',
  async (t) => {
    for (const [what, stopped, released, balances] of [
      ['hold', { payout_held: true }, { payout_held: false }, { held: '49.3000', merchant_payable: '0.0000' }],
      ['active', { is_active: false }, { is_active: true }, { held: '0.0000', merchant_payable: '49.3000' }],
      ['kyb', { kyb_status: 'SUSPENDED' }, { kyb_status: 'APPROVED' }, { held: '0.0000', merchant_payable: '49.3000' }],
    ] as const) {
      const merchant = await payableMerchant(service)
      await createPayouts(app)
      const set = (body: object) =>
        service.call('PUT', `/api/v1/admin/merchants/${merchant.id}/${what}`, {
          headers,
          body: { ...body, reason: 'odd' },
        })
      t.match(await set(stopped), { status: 200 })
      t.match(await payoutsOf(service, merchant), [{ status: 'FAILED', failure_code: 'CANCELLED_BY_PLATFORM' }], what)
      t.match(await balancesOf(service, merchant), { GBP: { ...balances, payouts_in_transit: '0.0000' } }, what)
      t.same(await differences(merchant), [], what)
      await postFor(service, merchant.id, ['payment_refunded', '9.3000'])
      await Promise.all([createPayouts(app), sendPayouts(app)])
      t.equal((await payoutsOf(service, merchant)).length, 1, `${what}: none before the release`)
      t.match(await set(released), { status: 200 })
      await createPayouts(app)
      await sendPayouts(app)
      t.match(await payoutsOf(service, merchant), [{}, { status: 'PAID', amount: '40.0000' }], what)
      t.match(await payoutWebhooksOf(service, merchant), [
        { type: 'payout.created' },
        { type: 'payout.failed' },
        { type: 'payout.created' },
        { type: 'payout.paid' },
      ])
    }
  },
)

t.test('a hold leaves a payout that is sent with its bank', async (t) => {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  await Promise.all([hold(merchant, true), sendPayouts(app)])
  const [payout] = await payoutsOf(service, merchant)
  const { GBP: gbp } = await balancesOf(service, merchant)
  t.match(
    [payout?.status, gbp?.['held'], gbp?.['payouts_in_transit']].join(' '),
    /^(PAID 0\.0000|FAILED 49\.3000) 0\.0000$/,
  )
  t.same(await differences(merchant), [])
})

t.test('a hold and the creation of a payout take turns: the money is set aside in the end', async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const merchant = await payableMerchant(service)
    const [held] = await Promise.all([hold(merchant, true), createPayouts(app), createPayouts(app)])
    t.equal(held.status, 200)
    t.match(await balancesOf(service, merchant), {
      GBP: { merchant_payable: '0.0000', held: '49.3000', payouts_in_transit: '0.0000' },
    })
    t.same(await differences(merchant), [])
  }
})

t.test('a hold that was made or lifted by hand is named', async (t) => {
  const merchant = await payableMerchant(service)
  await owner.query(
    `update merchants set payout_held = true, payout_held_at = now(), payout_held_by = 'x' where id = $1`,
    [merchant.id],
  )
  t.match(await differences(merchant), [{ kind: 'HOLD_WITHOUT_ACTION', expected_amount: null, found_amount: '49.30' }])
  const lifted = await payableMerchant(service)
  await hold(lifted, true)
  await byHand([
    `update merchants set payout_held = false, payout_held_at = null, payout_held_by = null where id = $1`,
    [lifted.id],
  ])
  t.match(await differences(lifted), [
    { kind: 'HELD_BALANCE', subject: lifted.id, expected_amount: '0.00', found_amount: '49.30' },
  ])
})
