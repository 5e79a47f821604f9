import t from 'tap'
import { authorisedPayment, testService, untilStatus } from '../support/app.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { raise, storyOf } from '../support/disputes.ts'
import { linkFor } from '../support/hub.ts'
import { byNumber, order } from '../support/orders.ts'
import { paymentOf, verify } from '../support/payers.ts'
import { asking, sent } from '../support/payment-requests.ts'
import { DAY_MS, RECURRING, inMs, orderRecurring, ordersOf } from '../support/recurring.ts'

/* Time that passes for customers of the bank, and for the payers of a merchant. */
const service = await testService(t, { worker: true })

async function advance(whose: { merchant_id?: string; customer_ids?: string[] }, by: string) {
  const answer = await service.call('POST', '/api/v1/sandbox/clock/advance', {
    headers: { 'x-platform-user': 'olga' },
    body: { ...whose, by },
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

const advanceFor = (customers: TestCustomer[], by: string) =>
  advance({ customer_ids: customers.map(({ externalId }) => externalId) }, by)

/** The day in London, `2026-11-30`. */
function inLondon(moment: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/London' }).format(new Date(moment))
}

t.test('standing orders run at each of their days during an advance, by the agreed calendar', async (t) => {
  const [ada, grace, other] = [await addCustomer(service), await addCustomer(service), await addCustomer(service)]
  const first = inMs(DAY_MS)
  const wish = { FirstPaymentDateTime: first, CreditorAccount: byNumber(grace.account.number) }
  const monthly = await orderRecurring(service, ada, { ...wish, Frequency: 'IntrvlMnthDay:01:-01' })
  const daily = await orderRecurring(service, other, wish)
  const id = monthly.body.RecurringPaymentId
  const read = async () => (await service.call('GET', `${RECURRING}/${id}`, { headers: ada.headers })).body
  t.equal(monthly.status, 201, monthly.text)

  t.match(await advanceFor([ada], '23h'), { stops: 0 })
  t.equal((await read()).NumberOfPayments, 0)
  t.equal((await read()).NextRunDateTime, monthly.body.NextRunDateTime, 'its next run is shown at the agreed time')
  await advanceFor([ada], '1h')
  t.match(await read(), { NumberOfPayments: 1, LastPayment: { Status: 'AcceptedSettlementCompleted' } })
  t.equal(await balanceOf(service, grace.account.id), 101_000n)

  await advanceFor([ada], '100d')
  const { NumberOfPayments: count, NextRunDateTime: next, FirstPaymentDateTime } = await read()
  const days = (await ordersOf(service, [id])).map(({ run_day }) => run_day)
  t.equal(days.length, count)
  const agreed = days.slice(1)
  t.ok(agreed.length === 3 || agreed.length === 4, `a hundred days have three or four ends of months: ${days.join()}`)
  for (const day of [...agreed, inLondon(next)])
    t.equal(new Date(Date.parse(day) + DAY_MS).getUTCDate(), 1, `${day} ends its month`)
  t.same(days, days.toSorted())
  t.ok(Date.parse(next) > Date.now() + 100 * DAY_MS, 'the next run keeps its own calendar')
  t.equal(Date.parse(FirstPaymentDateTime), Date.parse(first))
  t.equal(await balanceOf(service, grace.account.id), 100_000n + BigInt(count) * 1_000n)
  t.same(await ordersOf(service, [daily.body.RecurringPaymentId]), [], 'no other clock has moved')
})

t.test('orders created after an advance are due by the real clock', async (t) => {
  const ada = await addCustomer(service)
  await advanceFor([ada], '30d')
  const { body } = await orderRecurring(service, ada, { FirstPaymentDateTime: inMs(DAY_MS) })
  await advanceFor([ada], '23h')
  t.same(await ordersOf(service, [body.RecurringPaymentId]), [])
  await advanceFor([ada], '51h')
  t.equal(
    (await ordersOf(service, [body.RecurringPaymentId])).length,
    3,
    'the first run, and one on each following day',
  )
})

t.test('a run without funds fails as on any day, and a cancelled order does not run', async (t) => {
  const ada = await addCustomer(service, { accounts: [{ balance: 1_500n }] })
  const { body: kept } = await orderRecurring(service, ada)
  const { body: gone } = await orderRecurring(service, ada)
  await service.call('DELETE', `${RECURRING}/${gone.RecurringPaymentId}`, { headers: ada.headers })
  await advanceFor([ada], '50h')
  const made = await ordersOf(service, [kept.RecurringPaymentId])
  t.same(
    made.map(({ status, status_reason_code }) => [status, status_reason_code]),
    [
      ['AcceptedSettlementCompleted', null],
      ['Rejected', 'AM04'],
    ],
  )
  t.same(await ordersOf(service, [gone.RecurringPaymentId]), [])
})

t.test('requests and offers end when the clock of either side reaches their end', async (t) => {
  const [ada, grace, other] = [await addCustomer(service), await addCustomer(service), await addCustomer(service)]
  const asked = await sent(service, 'request-to-pay', { by: ada, to: grace })
  const offered = await sent(service, 'offer-to-pay', { by: grace, to: ada })
  const theirs = await sent(service, 'request-to-pay', { by: other, to: grace })
  const read = async (by: TestCustomer, path: 'request-to-pay' | 'offer-to-pay', id: string) =>
    (await asking(service).get(by, path, `/${id}`)).body
  await advanceFor([ada], '9d')
  t.equal((await read(ada, 'request-to-pay', asked)).Status, 'Sent')
  await advanceFor([ada], '51h')
  t.equal((await read(ada, 'request-to-pay', asked)).Status, 'Rejected')
  t.equal(
    (await read(other, 'request-to-pay', theirs)).Status,
    'Sent',
    'that of a customer whose time stands still stays',
  )
  await advanceFor([ada], '90d')
  t.equal((await read(grace, 'offer-to-pay', offered)).Status, 'Rejected')
  const late = await asking(service).decide(grace, 'request-to-pay', `${asked}/accept`)
  t.match(late, { status: 409 }, 'it can no longer be accepted')
})

t.test('an idempotency key holds for a day of its customer', async (t) => {
  const [ada, grace] = [await addCustomer(service), await addCustomer(service)]
  const pay = async (by: TestCustomer) => (await order(service, by, {}, 'order-1')).body.PaymentId
  const [first, theirs] = [await pay(ada), await pay(grace)]
  await advanceFor([ada], '23h')
  t.equal(await pay(ada), first)
  await advanceFor([ada], '1h')
  t.not(await pay(ada), first, 'a day later it counts as a new order')
  t.equal(await pay(grace), theirs)
})

t.test('the due times of a merchant and its customers are reached in one order', async (t) => {
  const merchant = await service.merchant()
  const [ada, grace] = [await addCustomer(service), await addCustomer(service)]
  const { id: payment } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, payment, 'Settled')
  const { body: dispute } = await raise(service, merchant, payment)
  const { body: recurring } = await orderRecurring(service, ada, {
    FirstPaymentDateTime: inMs(10 * DAY_MS),
    FinalPaymentDateTime: inMs(10 * DAY_MS),
    CreditorAccount: byNumber(grace.account.number),
  })
  const later = await orderRecurring(service, grace, {
    FirstPaymentDateTime: inMs(20 * DAY_MS),
    FinalPaymentDateTime: inMs(20 * DAY_MS),
  })
  const whose = { merchant_id: merchant.id, customer_ids: [ada.externalId, grace.externalId, ada.externalId] }
  const answer = await advance(whose, '30d')
  // Of the merchant the end of the day and the evidence's deadline, of the customers a payment each.
  t.match(answer, { merchant_id: merchant.id, customer_ids: whose.customer_ids, advanced_ms: 30 * DAY_MS, stops: 4 })
  t.same((await storyOf(service, dispute.id)).slice(1), ['evidence deadline: OPEN > UNDER_REVIEW by BATCH_JOB'])
  const { rows } = await service.owner.query(
    `select what from (
       select 'run of ada' as what, created_at from payment_orders where recurring_payment_id = $1
       union all select 'run of grace', created_at from payment_orders where recurring_payment_id = $2
       union all select 'evidence', created_at from dispute_events where dispute_id = $3 and event = 'evidence deadline'
     ) story order by created_at`,
    [recurring.RecurringPaymentId, later.body.RecurringPaymentId, dispute.id],
  )
  t.same(
    rows.map(({ what }) => what),
    ['run of ada', 'evidence', 'run of grace'],
  )
})

t.test("a payer's link and session end in the time of the merchant that alone knows the payer", async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  const [mine, shared] = ['mine@home.example', 'shared@home.example']
  await paymentOf(service, merchant, { payer_email: mine })
  for (const each of [merchant, other]) await paymentOf(service, each, { payer_email: shared })
  const tokenFor = async (email: string) => new URL(await linkFor(service, email)).hash.replace('#token=', '')
  const [link, sharedLink] = [await tokenFor(mine), await tokenFor(shared)]
  await advance({ merchant_id: merchant.id }, '11m')
  t.match(await verify(service, link), { body: { code: 'LINK_INVALID' } })
  t.match(await verify(service, sharedLink), { status: 200 }, 'links of payers whom another merchant knows do not move')

  const signIn = async (email: string) => {
    const { body } = await verify(service, await tokenFor(email))
    return { authorization: `Bearer ${body.session_token}` }
  }
  const [session, sharedSession] = [await signIn(mine), await signIn(shared)]
  const payments = (headers: Record<string, string>) => service.call('GET', '/api/v1/payer/payments', { headers })
  await advance({ merchant_id: merchant.id }, '14m')
  t.equal((await payments(session)).status, 200)
  await advance({ merchant_id: merchant.id }, '1m')
  t.match(await payments(session), { status: 401, body: { code: 'TOKEN_EXPIRED' } })
  t.equal((await payments(sharedSession)).status, 200)
})

t.test('an advance past the dispute window makes a payment undisputable', async (t) => {
  const merchant = await service.merchant()
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  await advance({ merchant_id: merchant.id }, '121d')
  const refused = await raise(service, merchant, id)
  t.match(refused, { status: 409, body: { code: 'PAYMENT_NOT_DISPUTABLE' } })
})
