import t from 'tap'
import type { Test } from 'tap'
import { keepBalancesOf } from '../../src/ledger/keep-balances.ts'
import { setPayoutHold } from '../../src/merchant-status/set-payout-hold.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { collectReturns } from '../../src/payouts/collect-returns.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import type { Explanation } from '../../src/wire/explain.ts'
import { OPERATOR } from '../support/disputes.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { closedSettlement, passPayoutTimes, payoutAccount, payoutsOf } from '../support/payouts.ts'
import { settledPayment } from '../support/payments.ts'

/* A payment is followed into its settlement and its payout, and back. */

async function explained(service: TestService, merchant: TestMerchant, id: string): Promise<Explanation> {
  const { status, body, text } = await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

/** What became of the money, without the payment's own moves. */
const moneyOf = ({ timeline }: Explanation): string[] =>
  timeline.filter(({ kind }) => kind === 'settlement' || kind === 'payout').map(({ text }) => text)

async function closed(service: TestService, merchant: TestMerchant): Promise<string> {
  await keepBalancesOf(service.app, merchant.id)
  const { status, body, text } = await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.settlements[0].settlement_id
}

async function setting(t: Test): Promise<{ service: TestService; merchant: TestMerchant; payment: string }> {
  const service = await testService(t)
  const merchant = await service.merchant()
  await payoutAccount(service, merchant)
  const payment = await settledPayment(service, merchant)
  return { service, merchant, payment }
}

async function faults(service: TestService, merchant: TestMerchant, shares: object): Promise<void> {
  const headers = await service.operator()
  const body = { merchant_id: merchant.id, ...shares }
  const { status, text } = await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers, body })
  if (status !== 200) throw new Error(`${status} ${text}`)
}

t.test('a payment says where its money is, and so do its settlement and its payout', async (t) => {
  const { service, merchant, payment } = await setting(t)
  await keepBalancesOf(service.app, merchant.id)
  const before = await explained(service, merchant, payment)
  t.match(before.standing, /Its money is in the next settlement\.$/)
  t.match(before.timeline.at(-1), { kind: 'due', text: 'the period ends, and its settlement is closed' })

  const settlement = await closed(service, merchant)
  const waiting = await explained(service, merchant, settlement)
  t.match(waiting, { kind: 'settlement', status: 'CLOSED', next: [] })
  t.match(waiting.standing, /^closed with 2 lines: 49\.30 GBP to be paid by the next payout\.$/)

  await createPayouts(service.app)
  await sendPayouts(service.app)
  const [payout] = await payoutsOf(service, merchant)
  if (payout === undefined) throw new Error('there is no payout')
  const after = await explained(service, merchant, payment)
  t.match(after.standing, `Its money is in the settlement ${settlement}, which the payout ${payout.id} pays (PAID).`)
  const became = [
    'a settlement of 49.30 GBP was closed',
    'a payout of 49.30 GBP was created',
    'the payout of 49.30 GBP is on its way to the bank',
    'the bank carried out the payout of 49.30 GBP',
  ]
  t.same(moneyOf(after), became)
  t.equal(after.also.find(({ what }) => what === 'explain its settlement')?.how, `svc explain ${settlement}`)

  const paid = await explained(service, merchant, settlement)
  t.same(moneyOf(paid), became)
  t.match(paid, { status: 'PAID_OUT', standing: new RegExp(`by the payout ${payout.id}, which is PAID`) })
  const own = await explained(service, merchant, payout.id)
  t.match(own, { kind: 'payout', status: 'PAID', title: 'payout of 49.30 GBP, which pays 1 settlement' })
  t.same(moneyOf(own), became)
  t.same(
    own.timeline.filter(({ kind }) => kind === 'webhook').map(({ text }) => text.replace(/ \(.*/, '')),
    ['webhook payout.created', 'webhook payout.paid'],
  )
  t.same(
    own.next.map(({ on }) => on),
    ['return'],
  )
  t.equal(own.also.at(-1)?.how, `svc explain ${settlement}`)
})

t.test('a payout that failed or was returned is in the timeline, and its money in the next one', async (t) => {
  const { service, merchant, payment } = await setting(t)
  const settlement = await closed(service, merchant)
  await faults(service, merchant, { fail_payout: '100%' })
  await createPayouts(service.app)
  await sendPayouts(service.app)
  const [failed] = await payoutsOf(service, merchant)
  if (failed === undefined) throw new Error('there is no payout')
  const lost = await explained(service, merchant, failed.id)
  t.match(lost, {
    title: 'payout of 49.30 GBP',
    status: 'FAILED',
    standing: /^failed: .+\. Its money is in the next payout/,
    next: [],
  })
  t.match(moneyOf(await explained(service, merchant, payment)).at(-1), /^the payout of 49\.30 GBP failed: /)
  const operator = await service.call('GET', `/api/v1/admin/explain/${failed.id}`, { headers: OPERATOR })
  t.match(operator.body.also[0], { what: 'retry it now', how: `svc payouts retry ${failed.id} --reason "..."` })

  await faults(service, merchant, { return_payout: '100%' })
  await passPayoutTimes(service, merchant)
  await createPayouts(service.app)
  await sendPayouts(service.app)
  await collectReturns(service.app)
  const became = moneyOf(await explained(service, merchant, settlement))
  t.match(became.at(-1), /^the payout of 49\.30 GBP came back: /)
  t.equal(became.filter((text) => text.endsWith('was created')).length, 2)
})

t.test('a payout that a hold has cancelled says what its money waits for, and is retried after it', async (t) => {
  const { service, merchant } = await setting(t)
  await closed(service, merchant)
  await createPayouts(service.app)
  const [waiting] = await payoutsOf(service, merchant)
  if (waiting === undefined) throw new Error('there is no payout')
  const { app } = service
  const actor = { id: 'o-1', name: 'grace@pay.example', role: 'OPS' }
  const asOperator = async () =>
    (await service.call('GET', `/api/v1/admin/explain/${waiting.id}`, { headers: OPERATOR })).body
  const hold = (payoutHeld: boolean) =>
    setPayoutHold(app, { id: merchant.id, payoutHeld, reason: 'looked into', actor })
  t.match(await asOperator(), { status: 'CREATED', standing: /^waits to be sent\.$/ })
  await hold(true)
  const held = await asOperator()
  t.match(held.standing, /^failed: .+\. Its money is in the next payout, once the merchant is not held/)
  t.notMatch(JSON.stringify(held.also), /retry/)
  await hold(false)
  const released = await asOperator()
  t.match(released.standing, /Its money is in the next payout\.$/)
  t.match(released.also[0], { what: 'retry it now' })
})

t.test('settlements and payouts are of their merchant, and of the roles that see balances', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const merchant = await service.merchant({ serverRole: 'DEVELOPER' })
  const payment = await settledPayment(service, merchant)
  const settlement = await closedSettlement(service, merchant)
  const other = await service.merchant()
  for (const [who, status] of [
    [other, 404],
    [merchant, 403],
  ] as const) {
    const answer = await service.call('GET', `/api/v1/portal/explain/${settlement}`, { merchant: who })
    t.equal(answer.status, status, answer.text)
  }
  const limited = await explained(service, merchant, payment)
  t.same(moneyOf(limited), [])
  t.notMatch(limited.standing, /settlement/)
  t.ok(limited.left_out.includes('settlements and payouts (your role has no access to them)'))
})
