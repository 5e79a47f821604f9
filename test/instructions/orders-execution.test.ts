import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { OUR_SORT_CODE } from '../../src/accounts/our-bank.ts'
import { makeApp } from '../../src/app.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { executeOrders } from '../../src/instructions/orders/execute.ts'
import { jobs } from '../../src/jobs.ts'
import { startWorker } from '../../src/worker.ts'
import { testService, until } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { ELSEWHERE, PAYMENTS, byNumber, endLeases, executeAll, gbp, order, plantOrder } from '../support/orders.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const service = await testService(t)
const { app, owner } = service

type Row = Record<string, unknown>

async function rowsOf(statement: string, values: unknown[] = []): Promise<Row[]> {
  return (await owner.query<Row>(statement, values)).rows
}

/** What became of a payment, as its customer reads it. */
async function read(customer: TestCustomer, id: string): Promise<Row> {
  return (await service.call('GET', `${PAYMENTS}/${id}`, { headers: customer.headers })).body
}

const BOOKINGS = `
  select amount_minor::int as amount, credit_debit_indicator as side, balance_minor::int as balance, counterparty_name,
    reference
  from transactions where account_id = $1 order by number`

t.test('a payment between accounts of this bank is booked on both, in the transaction that completes it', async (t) => {
  const payer = await addCustomer(service, { name: 'Grace Payer' })
  const payee = await addCustomer(service, { name: 'Patel Plumbing', accounts: [{ balance: 1n }] })
  const reference = 'x'.repeat(35)
  const { body } = await order(service, payer, {
    ...gbp('12.34'),
    CreditorAccount: { ...byNumber(payee.account.number), Name: 'The plumber' },
    RemittanceInformation: { Reference: reference },
  })
  await executeAll(app)
  const done = await read(payer, body.PaymentId)
  t.match(done, { Status: 'AcceptedSettlementCompleted', StatusISO: 'ACSC' })
  t.notOk('StatusReasonCode' in done)
  t.ok(String(done['StatusUpdateDateTime']) >= String(done['CreationDateTime']))
  t.same((await rowsOf(BOOKINGS, [payer.account.id])).slice(1), [
    { amount: 1234, side: 'Debit', balance: 98766, counterparty_name: 'The plumber', reference },
  ])
  t.same((await rowsOf(BOOKINGS, [payee.account.id])).slice(1), [
    { amount: 1234, side: 'Credit', balance: 1235, counterparty_name: 'Grace Payer', reference },
  ])
  t.same([await balanceOf(service, payer.account.id), await balanceOf(service, payee.account.id)], [98_766n, 1_235n])
  const written = await rowsOf(
    `select count(*)::int as rows, count(distinct xmin::text)::int as transactions
     from (
       select xmin from payment_orders where id = $1
       union all select xmin from transfers where id = $1
       union all select xmin from transactions where transfer_id = $1
       union all select xmin from accounts where id = any($2)
     ) written`,
    [body.PaymentId, [payer.account.id, payee.account.id]],
  )
  t.same(written, [{ rows: 6, transactions: 1 }])
})

t.test('a payment to another bank is booked on the debtor account', async (t) => {
  const payer = await addCustomer(service)
  const { body } = await order(service, payer, { RemittanceInformation: { Reference: 'r'.repeat(35) } })
  await executeAll(app)
  t.match(await read(payer, body.PaymentId), { Status: 'AcceptedSettlementCompleted' })
  t.equal(await balanceOf(service, payer.account.id), 99_000n)
  t.same(await rowsOf('select debtor_account_id, creditor_account_id from transfers where id = $1', [body.PaymentId]), [
    { debtor_account_id: payer.account.id, creditor_account_id: null },
  ])
  t.match(
    (await rowsOf(BOOKINGS, [payer.account.id])).at(-1),
    { reference: 'r'.repeat(35), counterparty_name: '20-00-00 55779911' },
    'our books keep the reference whole, and tell the number where no name was given',
  )
})

t.test('an account of this bank is found by its IBAN, and by one of this bank that ends in its number', async (t) => {
  const OURS = 'GB63SVCB12345698765432'
  const payer = await addCustomer(service)
  const euros = await addCustomer(service, { accounts: [{ balance: 0n, iban: 'DE89370400440532013000' }] })
  const pounds = await addCustomer(service, { accounts: [{ balance: 0n }] })
  await owner.query(`update accounts set sort_code_account_number = '12345698765432' where id = $1`, [
    pounds.account.id,
  ])
  for (const Identification of ['DE89370400440532013000', OURS, 'GB82WEST12345698765432'])
    await order(service, payer, { CreditorAccount: { SchemeName: 'UK.OBIE.IBAN', Identification } })
  await executeAll(app)
  t.equal(await balanceOf(service, euros.account.id), 1_000n)
  t.equal(await balanceOf(service, pounds.account.id), 1_000n, "the same digits of another bank's code are not its own")
  t.equal(await balanceOf(service, payer.account.id), 97_000n)
  t.same(
    (await rowsOf(BOOKINGS, [payer.account.id])).slice(1).map((row) => row['counterparty_name']),
    ['DE89 3704 0044 0532 0130 00', 'GB63 SVCB 1234 5698 7654 32', 'GB82 WEST 1234 5698 7654 32'],
    'whose the accounts are is not told to somebody who knows their numbers alone',
  )
  const DebtorAccount = { SchemeName: 'UK.OBIE.IBAN', Identification: 'GB63 SVCB 1234 5698 7654 32' }
  t.match(await order(service, pounds, { DebtorAccount }), {
    status: 201,
    body: { DebtorAccountId: pounds.account.id },
  })
  t.match(await order(service, payer, { DebtorAccount }), {
    status: 400,
    body: { Errors: [{ Path: 'DebtorAccount.Identification', Message: /not one of your accounts/ }] },
  })
  const self = await order(service, pounds, {
    CreditorAccount: { SchemeName: 'UK.OBIE.IBAN', Identification: OURS },
  })
  t.match(self, { status: 400, body: { Errors: [{ Path: 'CreditorAccount.Identification' }] } })
})

t.test("a payment that can't be executed is rejected with its reason, and no money moves", async (t) => {
  const payee = await addCustomer(service, {
    accounts: [{}, { status: 'Closed' }, { currency: 'EUR' }, { status: 'Blocked' }],
  })
  const [open, closed, euros, blocked] = payee.accounts.map(({ number }) => ({ CreditorAccount: byNumber(number) }))
  const close = (status: string) => (customer: TestCustomer) =>
    owner.query('update accounts set status = $2 where id = $1', [customer.account.id, status])
  const ofOurs = (Identification: string, SchemeName = 'UK.OBIE.SortCodeAccountNumber') => ({
    CreditorAccount: { SchemeName, Identification },
  })
  const cases = [
    ['too little money', { ...open, ...gbp('1000.01') }, 'AM04'],
    ['thirteen digits of it', { ...open, ...gbp('9999999999999.99') }, 'AM04'],
    ['too little for another bank', gbp('1000.01'), 'AM04'],
    ['blocked since', open, 'AC06', close('Blocked')],
    ['closed since', open, 'AC05', close('Closed')],
    ['creditor closed', closed, 'AC07'],
    ['creditor in euros', euros, 'AC11'],
    ['no such account here', ofOurs(`${OUR_SORT_CODE}99999999`), 'AC03'],
    ['too little money for one that is closed', { ...closed, ...gbp('1000.01') }, 'AM04'],
    ['too little for one in euros', { ...euros, ...gbp('1000.01') }, 'AM04'],
    ['too little for one that is not there', { ...ofOurs(`${OUR_SORT_CODE}99999999`), ...gbp('1000.01') }, 'AM04'],
    ['no such account here by IBAN', ofOurs('GB63SVCB00007599999999', 'UK.OBIE.IBAN'), 'AC03'],
    ['creditor blocked, which takes money', blocked, undefined],
    ['all that there is', { ...open, ...gbp('1000.00') }, undefined],
  ] as const
  const made: { what: string; payer: TestCustomer; id: string; code: string | undefined }[] = []
  for (const [what, changes, code, before] of cases) {
    const payer = await addCustomer(service)
    const { status, body } = await order(service, payer, changes)
    t.equal(status, 201, what)
    await before?.(payer)
    made.push({ what, payer, id: body.PaymentId, code })
  }
  await executeAll(app)
  const answers: Row[] = []
  for (const { what, payer, id, code } of made) {
    const answer = await read(payer, id)
    answers.push(answer)
    const booked = await rowsOf('select from transfers where id = $1', [id])
    t.equal(booked.length, code === undefined ? 1 : 0, what)
    if (code === undefined) {
      t.match(answer, { Status: 'AcceptedSettlementCompleted' }, what)
      continue
    }
    const reason = { StatusReasonCode: code, StatusReason: /^[A-Z].{15,}[a-z]$/ }
    t.match(answer, { Status: 'Rejected', StatusISO: 'RJCT', ...reason }, what)
    t.equal(await balanceOf(service, payer.account.id), 100_000n, what)
  }
  await executeAll(app)
  for (const [index, { what, payer, id }] of made.entries())
    t.same(await read(payer, id), answers[index], `${what} stays`)
})

t.test('an overdraft is used up to its limit', async (t) => {
  const payer = await addCustomer(service, { accounts: [{ balance: 100n, overdraft: 400n }] })
  const { body: within } = await order(service, payer, gbp('5.00'))
  const { body: beyond } = await order(service, payer, gbp('0.01'))
  await executeAll(app)
  t.match(await read(payer, within.PaymentId), { Status: 'AcceptedSettlementCompleted' })
  t.match(await read(payer, beyond.PaymentId), { StatusReasonCode: 'AM04' })
  t.equal(await balanceOf(service, payer.account.id), -400n)
})

t.test('the orders of an account are executed in the order of their creation', async (t) => {
  const payer = await addCustomer(service, { accounts: [{ balance: 1_000n }] })
  const ids: string[] = []
  for (const amount of ['8.00', '5.00', '1.50', '0.60', '0.50'])
    ids.push((await order(service, payer, gbp(amount))).body.PaymentId)
  await executeAll(app)
  const statuses = await Promise.all(ids.map(async (id) => (await read(payer, id))['StatusReasonCode'] ?? 'booked'))
  t.same(statuses, ['booked', 'AM04', 'booked', 'AM04', 'booked'])
  const booked = await rowsOf('select transfer_id from transactions where account_id = $1 order by number', [
    payer.account.id,
  ])
  t.same(
    booked.slice(1).map((row) => row['transfer_id']),
    [ids[0], ids[2], ids[4]],
  )
})

t.test('a payment request ends with its payment, in the same transaction', async (t) => {
  const payer = await addCustomer(service)
  const payee = await addCustomer(service)
  for (const [minor, ended, status, code] of [
    [1_000, 'AcceptedSettlementCompleted', 'Paid', null],
    [999_999, 'Rejected', 'Rejected', 'AM04'],
  ] as const) {
    const [id, paymentRequestId] = [randomUUID(), randomUUID()]
    await owner.query('begin')
    await owner.query(
      `insert into payment_requests (
         id, customer_id, counterparty_id, kind, name, identifier, amount_minor, currency, due_date, expires_at, status,
         account_id, counterparty_account_id, payer_id, order_id
       )
       values ($1, $2, $3, 'RequestToPay', 'Payee', $4, $5, 'GBP', current_date, now() + interval '1 day', 'Accepted',
         $6, $7, $3, $8)`,
      [paymentRequestId, payee.id, payer.id, payer.email, minor, payee.account.id, payer.account.id, id],
    )
    await plantOrder(service, {
      id,
      customer: payer,
      from: payer.account.id,
      to: payee.account.number,
      minor,
      paymentRequestId,
    })
    await owner.query('commit')
    await executeAll(app)
    t.match(await read(payer, id), { Status: ended, RequestId: paymentRequestId })
    t.same(
      await rowsOf(
        `select r.status, r.status_reason_code as code, r.xmin = o.xmin as at_once
         from payment_requests r join payment_orders o on o.id = r.order_id where r.id = $1`,
        [paymentRequestId],
      ),
      [{ status, code, at_once: true }],
    )
  }
})

t.test('an order that another transaction locks briefly, when it was claimed, is waited for', async (t) => {
  const payer = await addCustomer(service)
  const { body } = await order(service, payer)
  const { any } = app.pool
  const pool: typeof app.pool = {
    ...app.pool,
    any: async (query) => {
      const taken = await any(query)
      await owner.query('begin')
      await owner.query('select from payment_orders where id = $1 for no key update', [body.PaymentId])
      setTimeout(() => void owner.query('rollback'), 50)
      return taken
    },
  }
  await executeOrders({ ...app, pool })
  t.match(await read(payer, body.PaymentId), { Status: 'AcceptedSettlementCompleted' })
})

t.test(
  'an order that fails delays no other, leaves nothing behind, and is tried again when its lease ends',
  async (t) => {
    const payer = await addCustomer(service)
    await owner.query(`
    create function refuse_poison() returns trigger language plpgsql as
    $$ begin raise exception 'poison'; end $$;
    create trigger refuse_poison before insert on transactions
      for each row when (new.reference = 'poison') execute function refuse_poison()`)
    const { body: bad } = await order(service, payer, { RemittanceInformation: { Reference: 'poison' } })
    const { body: good } = await order(service, payer)
    await executeAll(app)
    t.match(await read(payer, bad.PaymentId), { Status: 'AcceptedSettlementInProcess', StatusISO: 'ACSP' })
    t.match(await read(payer, good.PaymentId), { Status: 'AcceptedSettlementCompleted' })
    t.equal(await balanceOf(service, payer.account.id), 99_000n)
    t.same(await rowsOf('select from transfers where id = $1', [bad.PaymentId]), [])
    await owner.query('drop trigger refuse_poison on transactions')
    await executeAll(app)
    t.match(await read(payer, bad.PaymentId), { Status: 'AcceptedSettlementInProcess' }, 'its lease lasts')
    const [lease] = await rowsOf(
      'select extract(epoch from locked_until - updated_at)::int as seconds from payment_orders where id = $1',
      [bad.PaymentId],
    )
    t.same(lease, { seconds: 30 })
    await endLeases(service)
    await executeAll(app)
    t.match(await read(payer, bad.PaymentId), { Status: 'AcceptedSettlementCompleted' })
    t.equal(await balanceOf(service, payer.account.id), 98_000n)
  },
)

t.test('an order that fails twenty times is rejected together with its payment request', async (t) => {
  const payer = await addCustomer(service)
  const id = await plantOrder(service, { customer: payer, from: payer.account.id, to: '20000055779911', minor: 1 })
  await owner.query(`
    create function refuse_that() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$;
    create trigger refuse_that before insert on transfers for each row when (new.id = '${id}') execute function refuse_that()`)
  for (let failures = 1; failures < 20; failures += 1) {
    await executeAll(app)
    await endLeases(service)
  }
  t.match(await read(payer, id), { Status: 'AcceptedSettlementInProcess' })
  const { log, lines } = capturedLog('error')
  await executeAll({ ...app, log })
  await owner.query('drop trigger refuse_that on transfers')
  t.match(await read(payer, id), {
    Status: 'Rejected',
    StatusReasonCode: 'MS03',
    StatusReason: /for a reason unrelated/,
  })
  t.match(JSON.parse(lines().at(-1) ?? ''), { order_id: id, failures: 20, msg: /rejected/ })
  t.equal(await balanceOf(service, payer.account.id), 100_000n)
})

t.test("many orders of one customer delay no other, and an account's orders stay in sequence", async (t) => {
  const [crowd, other] = [await addCustomer(service), await addCustomer(service)]
  await owner.query(
    `insert into payment_orders (id, customer_id, instruction_identification, end_to_end_identification, debtor_account_id,
       creditor_scheme_name, creditor_identification, amount_minor, currency, created_at)
     select gen_random_uuid(), $1, n::text, 'E', $2, 'UK.OBIE.SortCodeAccountNumber', '20000055779911', n, 'GBP',
       now() - interval '1 day' + n * interval '1 ms'
     from generate_series(1, 300) n`,
    [crowd.id, crowd.account.id],
  )
  const { body } = await order(service, other)
  t.same(await executeOrders(app), { more: true })
  t.match(await read(other, body.PaymentId), { Status: 'AcceptedSettlementCompleted' }, 'in the first batch')
  const left = `select count(*)::int from payment_orders where customer_id = $1 and status = 'Pending'`
  t.same(await rowsOf(left, [crowd.id]), [{ count: 290 }])

  // As another worker has taken the next one: the account is its own until the lease ends.
  await owner.query(
    `update payment_orders set status = 'AcceptedSettlementInProcess', locked_until = now() + interval '1 minute'
     where customer_id = $1 and instruction_identification = '11'`,
    [crowd.id],
  )
  t.same(await executeOrders(app), { more: false })
  await endLeases(service)
  await executeAll(app)
  const booked = await rowsOf(
    `select array_agg(amount_minor::int order by number) as amounts
    from transactions where account_id = $1 and number > 1`,
    [crowd.account.id],
  )
  t.same(
    booked[0]?.['amounts'],
    Array.from({ length: 300 }, (_, index) => index + 1),
  )
})

t.test('a customer may have a thousand payments waiting, and no more', async (t) => {
  const payer = await addCustomer(service)
  await owner.query(
    `insert into payment_orders (id, customer_id, instruction_identification, end_to_end_identification, debtor_account_id,
       creditor_scheme_name, creditor_identification, amount_minor, currency)
     select gen_random_uuid(), $1, 'I', 'E', $2, 'UK.OBIE.SortCodeAccountNumber', '20000055779911', 1, 'GBP'
     from generate_series(1, 999)`,
    [payer.id, payer.account.id],
  )
  t.equal((await order(service, payer, {}, 'thousandth')).status, 201)
  const refused = await order(service, payer)
  t.match(refused, { status: 429, body: { Errors: [{ ErrorCode: 'UK.OBIE.Rules.FailsControlParameters' }] } })
  t.match(refused.headers['retry-after'], /^[1-9]/)
  t.equal((await order(service, payer, {}, 'thousandth')).status, 201, 'what is there is answered all the same')
  t.equal((await order(service, await addCustomer(service))).status, 201)
  await owner.query(`delete from payment_orders where customer_id = $1`, [payer.id])
  await executeAll(app)
})

/** Fails unless every account is the sum of its bookings, which are numbered without gaps and run on from each other. */
async function booksAgree(t: Test): Promise<void> {
  t.same(
    await rowsOf(`
      select a.id
      from accounts a
      left join transactions b on b.account_id = a.id
      group by a.customer_id, a.id
      having a.balance_minor <> coalesce(sum(case b.credit_debit_indicator when 'Credit' then b.amount_minor else -b.amount_minor end), 0)
        or a.transaction_count <> count(b) or a.transaction_count <> coalesce(max(b.number), 0)
        or a.balance_minor < -a.overdraft_limit_minor`),
    [],
    'the books agree',
  )
  t.same(
    await rowsOf(`
      select o.id from payment_orders o left join transfers m on m.id = o.id
      where (o.status = 'AcceptedSettlementCompleted') <> (m.id is not null)`),
    [],
    'what is completed is booked, and nothing else',
  )
}

t.test('four workers execute two hundred orders, each once', async (t) => {
  const others = await Promise.all([1, 2, 3].map(() => makeApp({ ...app.config, databasePoolSize: 4 })))
  t.teardown(() => Promise.all(others.map((other) => other.close())))
  const payers: TestCustomer[] = []
  for (let index = 0; index < 8; index += 1) payers.push(await addCustomer(service))
  for (let index = 0; index < 200; index += 1) {
    const [customer, payee] = [payers[index % 8], payers[(index + 1) % 8]]
    if (customer === undefined || payee === undefined) throw new Error('there are eight of them')
    await plantOrder(service, { customer, from: customer.account.id, to: payee.account.number, minor: 100 })
  }
  await Promise.all([app, ...others].map((worker) => executeAll(worker)))
  t.same(
    await rowsOf(
      `select o.status, count(*)::int as orders, count(distinct m.id)::int as transfers
       from payment_orders o left join transfers m on m.id = o.id where o.customer_id = any($1) group by 1`,
      [payers.map(({ id }) => id)],
    ),
    [{ status: 'AcceptedSettlementCompleted', orders: 200, transfers: 200 }],
  )
  for (const { account } of payers) t.equal(await balanceOf(service, account.id), 100_000n, 'as much came as went')
  await booksAgree(t)
})

/** Waits until a worker's statement that contains these words waits for a lock of `kind`. */
async function untilHeld(words: string, kind: string): Promise<void> {
  const held = `
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and wait_event = $2 and query like $1`
  await until(async () => (await rowsOf(held, [`%${words}%`, kind])).length > 0)
}

t.test(
  'a worker that is killed before a booking, and in the middle of another, loses nothing and books none twice',
  async (t) => {
    const [taken, halfway] = [await addCustomer(service), await addCustomer(service)]
    const payee = await addCustomer(service, { accounts: [{ balance: 0n }] })
    await owner.query(`
    create function wait_at_the_end() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(7); return new; end $$;
    create trigger wait_at_the_end before update of status on payment_orders
      for each row when (new.status = 'AcceptedSettlementCompleted') execute function wait_at_the_end()`)
    const holder = await makePgConnection({ databaseUrl: service.databaseUrl, onError: () => undefined })
    t.teardown(() => holder.end())
    const worker = await startWorkerProcess(t, service, ['execute-orders'])
    await holder.query('set idle_in_transaction_session_timeout = 0')
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock(7)')
    await holder.query('select from accounts where id = $1 for no key update', [taken.account.id])
    const toPayee = { CreditorAccount: byNumber(payee.account.number) }
    const orders = [
      { customer: taken, id: (await order(service, taken)).body.PaymentId },
      { customer: halfway, id: (await order(service, halfway, toPayee)).body.PaymentId },
    ]
    const balances = async (): Promise<bigint[]> => [
      await balanceOf(service, taken.account.id),
      await balanceOf(service, halfway.account.id),
      await balanceOf(service, payee.account.id),
    ]
    await untilHeld('book_transfer', 'transactionid')
    await untilHeld('update payment_orders', 'advisory')
    await worker.kill()
    await holder.query('rollback')
    await worker.lost()
    await executeAll(app)
    for (const { customer, id } of orders)
      t.match(await read(customer, id), { Status: 'AcceptedSettlementInProcess' }, 'its lease lasts')
    t.same(await balances(), [100_000n, 100_000n, 0n], 'no half of a booking is left')
    await endLeases(service)
    await Promise.all([executeOrders(app), executeOrders(app), executeOrders(app)])
    for (const { customer, id } of orders) t.match(await read(customer, id), { Status: 'AcceptedSettlementCompleted' })
    t.same(await balances(), [99_000n, 99_000n, 1_000n], 'each is booked once')
    await owner.query('drop trigger wait_at_the_end on payment_orders')
    await booksAgree(t)
  },
)

t.test('an order wakes a worker', async (t) => {
  const table = jobs.flatMap((job) =>
    job.name === 'execute-orders' && 'run' in job ? [{ ...job, everyMs: 60_000 }] : [],
  )
  const worker = startWorker(app, { jobs: table })
  t.teardown(() => worker.stop())
  const payer = await addCustomer(service)
  const { body } = await order(service, payer)
  t.equal(body.Status, 'Pending')
  await until(async () => {
    // Once more and again, since the worker may not listen yet.
    await order(service, payer, gbp('0.01'))
    return (await read(payer, body.PaymentId))['Status'] === 'AcceptedSettlementCompleted'
  })
  await worker.stop()
  await executeAll(app)
})

t.test('concurrent orders neither create nor lose money, and overdraw no account', async (t) => {
  const other = await makeApp({ ...app.config, databasePoolSize: 4 })
  t.teardown(() => other.close())
  const instruction = fc.record({
    from: fc.nat(2),
    to: fc.nat(3),
    minor: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 3_000 })),
    by: fc.constantFrom(app, other, null),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(instruction, { minLength: 8, maxLength: 24 }), async (instructions) => {
      const ada = await addCustomer(service, { accounts: [{ balance: 1_000n }, { balance: 500n, overdraft: 300n }] })
      const bob = await addCustomer(service, { accounts: [{ balance: 0n, overdraft: 200n }] })
      const accounts = [...ada.accounts, ...bob.accounts]
      let outside = 0n
      await Promise.all(
        instructions.map(async ({ from, to, minor, by }) => {
          const customer = from === 2 ? bob : ada
          const creditor = accounts[to]
          const amount = `${Math.trunc(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
          const { status } = await order(service, customer, {
            ...gbp(amount),
            DebtorAccount: byNumber(accounts[from]?.number ?? ''),
            CreditorAccount: creditor === undefined ? ELSEWHERE : byNumber(creditor.number),
          })
          if (status !== (from === to ? 400 : 201)) throw new Error(`answered ${status}`)
          if (by !== null) await executeOrders(by)
        }),
      )
      await executeAll(app)
      const ended = await rowsOf(
        `select status, status_reason_code as reason, creditor_identification as creditor, amount_minor::text as minor
         from payment_orders where customer_id = any($1)`,
        [[ada.id, bob.id]],
      )
      for (const { status, reason, creditor, minor } of ended) {
        if (status === 'Rejected' && reason === 'AM04') continue
        if (status !== 'AcceptedSettlementCompleted') throw new Error(`ended as ${String(status)} ${String(reason)}`)
        if (creditor === ELSEWHERE.Identification) outside += BigInt(String(minor))
      }
      const balances: bigint[] = []
      for (const { id } of accounts) balances.push(await balanceOf(service, id))
      if (balances.reduce((sum, each) => sum + each, outside) !== 1_500n) throw new Error(`the sum is off: ${balances}`)
    }),
    { numRuns: 5 },
  )
  await booksAgree(t)
})
