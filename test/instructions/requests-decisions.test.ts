import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { executeOrders } from '../../src/instructions/orders/execute.ts'
import { claimOrders } from '../../src/instructions/orders/move.ts'
import { acceptRequest } from '../../src/instructions/requests/accept-request.ts'
import { expireRequests } from '../../src/instructions/requests/expire.ts'
import { moveRequest } from '../../src/instructions/requests/move.ts'
import { rejectRequest } from '../../src/instructions/requests/reject-request.ts'
import { PAYMENT_REQUEST_TRANSITIONS } from '../../src/instructions/requests/states.ts'
import { startWorker } from '../../src/worker.ts'
import { testService, until } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { asking, passTime, sent } from '../support/payment-requests.ts'
import { tally } from '../support/payments.ts'
import type { Path } from '../support/payment-requests.ts'

const service = await testService(t)
const { app, owner } = service
const { get, decide } = asking(service)

const euro = { currency: 'EUR' as const }
const ada = await addCustomer(service, { name: 'Ada', accounts: [{}, {}, euro] })
const bob = await addCustomer(service, { name: 'Bob', accounts: [{}, {}] })

/** A request of Ada's to Bob, or an offer; Bob decides on it. */
const fromAda = (path: Path, changes: Record<string, unknown> = {}): Promise<string> =>
  sent(service, path, { by: ada, to: bob, changes })

const accept = (path: Path, id: string, body?: unknown): Promise<Answer> => decide(bob, path, `${id}/accept`, { body })
const reject = (path: Path, id: string): Promise<Answer> => decide(bob, path, `${id}/reject`)
const seen = async (by: TestCustomer, path: Path, id: string): Promise<Answer['body']> =>
  (await get(by, path, `/${id}`)).body

/** A decision that comes too late, for this reason. */
function isClosed(t: Test, answer: Answer, reason: string): void {
  t.match(answer, {
    status: 409,
    body: { Errors: [{ ErrorCode: 'UK.OBIE.Rules.ResourceAlreadyExists', Message: new RegExp(`^${reason}: `) }] },
  })
}

const ordersOf = async (id: string): Promise<Record<string, unknown>[]> =>
  (await owner.query('select * from payment_orders where payment_request_id = $1', [id])).rows

const secondOf = (customer: TestCustomer): TestCustomer['account'] => customer.accounts[1] ?? customer.account

t.test('both kinds complete the full flow, and become Paid in the transaction that books the payment', async (t) => {
  const worker = startWorker(app)
  for (const path of ['request-to-pay', 'offer-to-pay'] as const) {
    const isRequest = path === 'request-to-pay'
    const [payer, payee] = isRequest ? [bob, ada] : [ada, bob]
    // Who decides names an account that is not the first; the maker's is the first one.
    const [debtor, creditor] = isRequest ? [secondOf(bob), ada.account] : [ada.account, secondOf(bob)]
    const before = [await balanceOf(service, debtor.id), await balanceOf(service, creditor.id)] as const
    const id = await fromAda(path)
    const accepted = await accept(path, id, { AccountId: secondOf(bob).id })
    t.match(accepted, { status: 200, body: { Status: 'Accepted', Direction: 'Incoming' } })
    const paid = await until(async () => {
      const body = await seen(payer, path, id)
      return body.Status === 'Paid' && body
    })
    t.equal(await balanceOf(service, debtor.id), before[0] - 1250n)
    t.equal(await balanceOf(service, creditor.id), before[1] + 1250n)
    t.notOk('PaymentId' in (await seen(payee, path, id)), 'the payment is told to its payer alone')
    t.equal('PaymentId' in accepted.body, isRequest)
    const { rows } = await owner.query(
      `select o.xmin = r.xmin as together, o.id from payment_requests r join payment_orders o on o.id = r.order_id
       where r.id = $1`,
      [id],
    )
    t.match(rows, [{ together: true, id: paid.PaymentId }])
    const reference = id.replaceAll('-', '')
    const payment = await service.call('GET', `/open-banking/v1/payments/${paid.PaymentId}`, { headers: payer.headers })
    t.match(payment.body, {
      Status: 'AcceptedSettlementCompleted',
      EndToEndIdentification: reference,
      InstructionIdentification: reference,
      DebtorAccountId: debtor.id,
      CreditorAccount: { Identification: creditor.number },
      RemittanceInformation: { Reference: 'INV 1' },
      RequestId: id,
    })
    isClosed(t, await accept(path, id), 'APAR')
    isClosed(t, await reject(path, id), 'APAR')
  }
  await worker.stop()
})

t.test("the account is one of the caller's own in the right currency, by default the first one", async (t) => {
  const eve = await addCustomer(service)
  const inEuro = { AmountRequested: { Amount: '5.00', Currency: 'EUR' } }
  const id = await fromAda('request-to-pay', inEuro)
  for (const [body, message] of [
    [{ AccountId: ada.accounts[2]?.id }, /not one of your accounts/],
    [{ AccountId: eve.account.id }, /not one of your accounts/],
    [{ AccountId: app.ids.uuid() }, /not one of your accounts/],
    [{ AccountId: 'nonsense' }, /not one of your accounts/],
    [{ AccountId: bob.account.id }, /is in GBP/],
    [{}, /you have no account in EUR/],
    [undefined, /you have no account in EUR/],
  ] as const) {
    t.match(await accept('request-to-pay', id, body), {
      status: 400,
      body: { Errors: [{ ErrorCode: 'UK.OBIE.Field.Invalid', Path: 'AccountId', Message: message }] },
    })
  }
  t.match(await accept('request-to-pay', id, { Account: 'x' }), {
    status: 400,
    body: { Errors: [{ ErrorCode: 'UK.OBIE.Field.Unexpected' }] },
  })
  t.match(await seen(bob, 'request-to-pay', id), { Status: 'Sent' })
  t.same(await ordersOf(id), [])
  const other = await fromAda('request-to-pay')
  const blocked = (status: string) =>
    owner.query('update accounts set status = $2 where customer_id = $1', [bob.id, status])
  await blocked('Blocked')
  t.match(await accept('request-to-pay', other), {
    status: 400,
    body: { Errors: [{ Path: 'AccountId', Message: /usable account in GBP: each is blocked or closed/ }] },
  })
  await blocked('Enabled')
  t.equal((await accept('request-to-pay', other)).status, 200)
  t.match(await ordersOf(other), [{ debtor_account_id: bob.account.id, customer_id: bob.id, status: 'Pending' }])
})

t.test('a rejected request stays rejected', async (t) => {
  for (const path of ['request-to-pay', 'offer-to-pay'] as const) {
    const id = await fromAda(path)
    const rejected = await reject(path, id)
    t.match(rejected, { status: 200, body: { Status: 'Rejected', StatusReasonCode: 'MS02' } })
    isClosed(t, await reject(path, id), 'ARFR')
    isClosed(t, await accept(path, id), 'ARFR')
    t.same(await seen(ada, path, id), { ...rejected.body, Direction: 'Outgoing' }, 'the maker is told')
    t.same(await ordersOf(id), [])
  }
})

t.test('an accepted request can be withdrawn until its payment is in progress', async (t) => {
  for (const path of ['request-to-pay', 'offer-to-pay'] as const) {
    await executeOrders(app)
    const before = [await balanceOf(service, ada.account.id), await balanceOf(service, bob.account.id)]
    const id = await fromAda(path)
    await accept(path, id)
    isClosed(t, await accept(path, id), 'ALAC')
    const withdrawn = await reject(path, id)
    t.match(withdrawn, { status: 200, body: { Status: 'Rejected', StatusReasonCode: 'DS02' } })
    t.match(await ordersOf(id), [{ status: 'Rejected', status_reason_code: 'DS02' }])
    isClosed(t, await reject(path, id), 'ARJR')
    isClosed(t, await accept(path, id), 'ARJR')
    await executeOrders(app)
    t.same([await balanceOf(service, ada.account.id), await balanceOf(service, bob.account.id)], before)
    const late = await fromAda(path)
    await accept(path, late)
    await claimOrders(app.pool, { accounts: 50, perAccount: 50, leaseSeconds: 0 })
    isClosed(t, await reject(path, late), 'ALAC')
    t.match(await seen(ada, path, late), { Status: 'Accepted' })
    await executeOrders(app)
    t.match(await seen(ada, path, late), { Status: 'Paid' })
  }
})

t.test('the requester withdraws undecided requests, and nothing else', async (t) => {
  for (const path of ['request-to-pay', 'offer-to-pay'] as const) {
    const takeBack = (id: string) => decide(ada, path, `${id}/reject`)
    const id = await fromAda(path)
    const back = await takeBack(id)
    t.match(back, { status: 200, body: { Status: 'Rejected', StatusReasonCode: 'DS02', Direction: 'Outgoing' } })
    t.same(await seen(bob, path, id), { ...back.body, Direction: 'Incoming' }, 'the other side is told')
    isClosed(t, await takeBack(id), 'ARJR')
    isClosed(t, await accept(path, id), 'ARJR')
    const accepted = await fromAda(path)
    await accept(path, accepted)
    isClosed(t, await takeBack(accepted), 'ALAC')
    t.match(await ordersOf(accepted), [{ status: 'Pending' }])
    await executeOrders(app)
    isClosed(t, await takeBack(accepted), 'APAR')
    const late = await fromAda(path)
    await passTime(service, late)
    isClosed(t, await takeBack(late), 'AEXR')
  }
})

t.test('a rejected payment rejects its request, for the same reason', async (t) => {
  const poor = await addCustomer(service, { accounts: [{ balance: 100n }] })
  const request = await sent(service, 'request-to-pay', { by: ada, to: poor })
  const offer = await sent(service, 'offer-to-pay', { by: poor, to: ada })
  await decide(poor, 'request-to-pay', `${request}/accept`)
  await decide(ada, 'offer-to-pay', `${offer}/accept`)
  await executeOrders(app)
  for (const [path, id] of [
    ['request-to-pay', request],
    ['offer-to-pay', offer],
  ] as const) {
    for (const who of [ada, poor]) {
      t.match(await seen(who, path, id), { Status: 'Rejected', StatusReasonCode: 'AM04' })
    }
    t.match(await ordersOf(id), [{ status: 'Rejected', status_reason_code: 'AM04' }])
  }
  isClosed(t, await decide(poor, 'request-to-pay', `${request}/accept`), 'ARJR')
  t.equal(await balanceOf(service, poor.account.id), 100n)
})

t.test('an overdue request is expired immediately, and the job only records it', async (t) => {
  for (const path of ['request-to-pay', 'offer-to-pay'] as const) {
    const id = await fromAda(path)
    await passTime(service, id)
    isClosed(t, await accept(path, id), 'AEXR')
    isClosed(t, await reject(path, id), 'AEXR')
    const lazily = await seen(ada, path, id)
    t.match(lazily, { Status: 'Rejected', StatusReasonCode: 'EDTR', StatusUpdateDateTime: lazily.ExpirationDateTime })
    t.match((await get(bob, path, '')).body.Data[0], { Status: 'Rejected', StatusReasonCode: 'EDTR' })
    const stored = () => owner.query('select status, status_reason_code from payment_requests where id = $1', [id])
    t.match((await stored()).rows, [{ status: 'Sent' }])
    t.same(await expireRequests(app), { more: false })
    t.match((await stored()).rows, [{ status: 'Rejected', status_reason_code: 'EDTR' }])
    t.same(await seen(ada, path, id), lazily, 'to its readers nothing has changed')
    isClosed(t, await accept(path, id), 'AEXR')
    t.same(await ordersOf(id), [])
  }
})

t.test('the job ends a bounded number per run, each once with two workers, and none that is not due', async (t) => {
  const model = await fromAda('request-to-pay')
  const accepted = await fromAda('offer-to-pay')
  await accept('offer-to-pay', accepted)
  await passTime(service, accepted)
  await owner.query(
    `insert into payment_requests (id, customer_id, counterparty_id, kind, name, identifier, amount_minor, currency,
       due_date, expires_at, account_id, payer_id)
     select gen_random_uuid(), customer_id, counterparty_id, kind, name, identifier, amount_minor, currency, due_date,
       now() - interval '1 second', account_id, payer_id
     from payment_requests cross join generate_series(1, 1200) where id = $1`,
    [model],
  )
  const left = async (): Promise<number> => {
    const { rows } = await owner.query(
      `select count(*)::int as count from payment_requests where status = 'Sent' and expires_at <= now()`,
    )
    return Number(rows[0]?.count)
  }
  t.same(await Promise.all([expireRequests(app), expireRequests(app)]), [{ more: true }, { more: true }])
  t.equal(await left(), 200, 'five hundred each')
  await owner.query('begin')
  await owner.query(`select from payment_requests where status = 'Sent' and expires_at <= now() limit 10 for update`)
  t.same(await expireRequests(app), { more: false }, 'it does not wait for those that somebody holds')
  await owner.query('commit')
  t.equal(await left(), 10)
  await expireRequests(app)
  t.same([await left(), await expireRequests(app)], [0, { more: false }])
  t.match(await seen(ada, 'request-to-pay', model), { Status: 'Sent' })
  t.match(await seen(ada, 'offer-to-pay', accepted), { Status: 'Accepted' }, 'what was accepted in time stays so')
})

t.test('twenty concurrent acceptances create one payment', async (t) => {
  for (const path of ['request-to-pay', 'offer-to-pay'] as const) {
    const id = await fromAda(path)
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(path, id)))
    const [first, ...others] = answers.toSorted((a, b) => a.status - b.status)
    t.match(first, { status: 200, body: { Status: 'Accepted' } })
    for (const other of others) isClosed(t, other, 'ALAC')
    t.equal((await ordersOf(id)).length, 1)
  }
})

/** What a request and its payment have come to, once nothing is under way any more: `Paid - AcceptedSettlementCompleted`. */
async function endingOf(id: string): Promise<string> {
  // An order whose withdrawal was tried while it was taken up waits for its lease, and an expired request for the job.
  await owner.query(`update payment_orders set locked_until = now() where status = 'AcceptedSettlementInProcess'`)
  await executeOrders(app)
  await expireRequests(app)
  const { rows } = await owner.query(
    'select status, status_reason_code as reason from payment_requests where id = $1',
    [id],
  )
  const orders = await ordersOf(id)
  if (orders.length > 1) throw new Error(`${orders.length} payments`)
  return `${rows[0]?.status} ${rows[0]?.reason ?? '-'} ${String(orders[0]?.['status'] ?? 'no payment')}`
}

const PAID = 'Paid - AcceptedSettlementCompleted'
const WITHDRAWN = 'Rejected DS02 Rejected'
const REFUSED = 'Rejected MS02 no payment'
const EXPIRED = 'Rejected EDTR no payment'
const PENNY = { Amount: '0.01', Currency: 'GBP' }

t.test('of a concurrent acceptance, rejection and expiry, one wins', async (t) => {
  const endings: string[] = []
  for (let round = 0; round < 18; round += 1) {
    const id = await fromAda('request-to-pay', { AmountRequested: PENNY })
    const name = { kind: 'RequestToPay', customerId: bob.id, id } as const
    const calls = [
      () => acceptRequest(app, { ...name, accountId: undefined }),
      () => rejectRequest(app, name),
      async () => {
        await delay(round % 9)
        if (round % 3 === 0) await passTime(service, id)
        await expireRequests(app)
      },
    ]
    const first = round % calls.length
    const inTurn = [...calls.slice(first), ...calls.slice(0, first)]
    const results = await Promise.allSettled(inTurn.map((call) => call()))
    for (const result of results) {
      if (result.status === 'rejected' && result.reason?.code !== 'PAYMENT_REQUEST_CLOSED') throw result.reason
    }
    const ending = await endingOf(id)
    const decided = results.filter(({ status }) => status === 'fulfilled').length - 1
    // A refusal that comes after the acceptance withdraws it: both have had their way.
    const expected: Record<string, number> = { [PAID]: 1, [REFUSED]: 1, [WITHDRAWN]: 2, [EXPIRED]: 0 }
    if (decided !== expected[ending]) throw new Error(`${ending} after ${decided} decisions`)
    endings.push(ending)
  }
  t.ok(new Set(endings).size >= 2, `not always the same one: ${JSON.stringify(tally(endings))}`)
})

t.test('an order is withdrawn or paid, and never both', async (t) => {
  // What was accepted above is paid first, so that only one payment moves the balance.
  while ((await executeOrders(app)).more);
  const endings: string[] = []
  for (let round = 0; round < 15; round += 1) {
    const id = await fromAda('offer-to-pay', { AmountOffered: PENNY })
    await accept('offer-to-pay', id)
    const before = await balanceOf(service, ada.account.id)
    const withdrawal = rejectRequest(app, { kind: 'OfferToPay', customerId: bob.id, id })
    const [withdrawn] = await Promise.allSettled([withdrawal, delay((round % 6) * 5).then(() => executeOrders(app))])
    const ending = await endingOf(id)
    const paid = before - (await balanceOf(service, ada.account.id))
    if (ending !== (withdrawn.status === 'fulfilled' ? WITHDRAWN : PAID)) throw new Error(ending)
    if (paid !== (ending === PAID ? 1n : 0n)) throw new Error(`${ending}, and ${paid} was paid`)
    endings.push(ending)
  }
  t.pass(JSON.stringify(tally(endings)))
})

const STATES = ['Sent', 'Accepted', 'Rejected', 'Paid'] as const

t.test('the database rejects every transition that the table lacks, and so does the writer', async (t) => {
  const model = await fromAda('request-to-pay')
  await accept('request-to-pay', model)
  const moved = async (from: string, to: string): Promise<string> => {
    await owner.query('begin')
    try {
      const { rows } = await owner.query(
        `insert into payment_requests (id, customer_id, counterparty_id, kind, name, identifier, amount_minor, currency,
           due_date, expires_at, account_id, payer_id, order_id, status, status_reason_code)
         select gen_random_uuid(), customer_id, counterparty_id, kind, name, identifier, amount_minor, currency, due_date,
           expires_at, account_id, payer_id, gen_random_uuid(), $1::payment_request_status,
           case when $1 = 'Rejected' then 'MS02' end
         from payment_requests where id = $2 returning id`,
        [from, model],
      )
      await owner.query(
        `update payment_requests set status = $2::payment_request_status,
           status_reason_code = case when $2 = 'Rejected' then 'MS02' end where id = $1`,
        [rows[0]?.id, to],
      )
      return 'moved'
    } catch (error) {
      return error instanceof Error ? error.message : 'unknown'
    } finally {
      await owner.query('rollback')
    }
  }
  for (const from of STATES) {
    for (const to of STATES.filter((state) => state !== from)) {
      const isAllowed = PAYMENT_REQUEST_TRANSITIONS.some((row) => row.from === from && row.to === to)
      t.equal(await moved(from, to), isAllowed ? 'moved' : `a request can't move from ${from} to ${to}`)
    }
  }
  const change = { id: model, changes: {} }
  await t.rejects(
    app.pool.transaction((tx) => moveRequest(tx, { ...change, from: 'Paid', on: 'payment' })),
    /no transition from Paid on payment/,
  )
  await t.rejects(
    app.pool.transaction((tx) => moveRequest(tx, { ...change, from: 'Sent', on: 'rejection' })),
    /a request did not move on rejection/,
    'nor does it move what is elsewhere',
  )
})
