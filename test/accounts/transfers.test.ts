import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type pg from 'pg'
import t from 'tap'
import { TransferOutcome, bookTransfer } from '../../src/accounts/transfer-sql.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { makePool } from '../../src/db/pool.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { NewTestAccount } from '../support/customers.ts'
import { testDatabase } from '../support/database.ts'

const { url: databaseUrl } = await testDatabase(t)
const owner = await makePgConnection({ databaseUrl, onError: () => undefined })
/** As the service itself. */
const connections = await Promise.all(
  Array.from({ length: 6 }, () => makePgConnection({ databaseUrl, role: 'svc_runtime', onError: () => undefined })),
)
const [runtime = owner, second = owner] = connections
t.teardown(() => Promise.all([owner, ...connections].map((client) => client.end())))

/** A side that is null is another bank. */
type Booking = { id?: string; debtor: string | null; creditor: string | null; amount: bigint; currency?: string }

async function book(client: pg.Client, booking: Booking): Promise<TransferOutcome> {
  const { id = randomUUID(), debtor, creditor, amount, currency = 'GBP' } = booking
  const { rows } = await client.query({
    name: 'book',
    text: `select book_transfer($1, $2, $3, $4, $5, 'Payer', 'Payee', 'REF') as outcome`,
    values: [id, debtor, creditor, String(amount), currency],
  })
  return TransferOutcome.parse(rows[0]?.outcome)
}

async function accounts(...wishes: NewTestAccount[]): Promise<string[]> {
  return (await addCustomer({ owner }, { accounts: wishes })).accounts.map(({ id }) => id)
}

/** What breaks a rule of the books; nothing where they are right. */
async function faults(): Promise<unknown[]> {
  const { rows } = await owner.query(`
    with lines as (
      select t.*, row_number() over w as expected, lag(t.booking_date_time) over w as previous,
        case t.credit_debit_indicator when 'Credit' then t.amount_minor else -t.amount_minor end as moved,
        sum(case t.credit_debit_indicator when 'Credit' then t.amount_minor else -t.amount_minor end) over w as running
      from transactions t
      window w as (partition by t.account_id order by t.number)
    )
    select 'not the next number, sum or time' as fault, l.account_id as id, l.number
    from lines l join accounts a on a.id = l.account_id
    where l.number <> l.expected or l.balance_minor <> l.running or l.previous > l.booking_date_time
      or l.balance_minor < -a.overdraft_limit_minor
    union all
    select 'a balance that is not its lines', a.id, a.transaction_count
    from accounts a left join lines l on l.account_id = a.id
    group by a.id, a.balance_minor, a.transaction_count, a.overdraft_limit_minor
    having a.balance_minor <> coalesce(sum(l.moved), 0) or a.transaction_count <> count(l.number)
      or a.balance_minor < -a.overdraft_limit_minor
    union all
    select 'not both sides of a transfer, once', x.id, count(l.number)
    from transfers x left join lines l on l.transfer_id = x.id and l.booking_date_time = x.booked_at and (
      (l.account_id = x.debtor_account_id and l.moved = -x.amount_minor)
      or (l.account_id = x.creditor_account_id and l.moved = x.amount_minor)
    )
    group by x.id
    having count(l.number) <> num_nonnulls(x.debtor_account_id, x.creditor_account_id)
      or count(l.number) <> (select count(*) from transactions t where t.transfer_id = x.id)`)
  return rows
}

/** How many lines the books have: what is refused leaves none. */
async function lines(): Promise<string> {
  const { rows } = await owner.query(
    'select (select count(*) from transfers) as transfers, (select count(*) from transactions) as transactions',
  )
  return `${rows[0].transfers} ${rows[0].transactions}`
}

t.test('each outcome is returned, and a rejected transfer changes nothing', async (t) => {
  const [rich = '', poor = '', blocked = '', closed = '', euros = '', overdrawn = ''] = await accounts(
    { balance: 1_000n },
    { balance: 0n },
    { balance: 1_000n, status: 'Blocked' },
    { balance: 1_000n, status: 'Closed' },
    { balance: 1_000n, currency: 'EUR' },
    { balance: 0n, overdraft: 500n },
  )
  const known = randomUUID()
  t.equal(await book(runtime, { id: known, debtor: rich, creditor: poor, amount: 10n }), 'BOOKED')
  const nobody = randomUUID()
  const refusals: [outcome: TransferOutcome, booking: Booking][] = [
    ['REPEAT', { id: known, debtor: rich, creditor: poor, amount: 10n }],
    ['OTHER_TRANSFER', { id: known, debtor: rich, creditor: poor, amount: 11n }],
    ['OTHER_TRANSFER', { id: known, debtor: poor, creditor: rich, amount: 10n }],
    ['OTHER_TRANSFER', { id: known, debtor: rich, creditor: null, amount: 10n }],
    ['OTHER_TRANSFER', { id: known, debtor: rich, creditor: poor, amount: 10n, currency: 'EUR' }],
    ['INSUFFICIENT_FUNDS', { debtor: rich, creditor: poor, amount: 991n }],
    ['INSUFFICIENT_FUNDS', { debtor: rich, creditor: null, amount: 9_000_000_000_000_000_000n }],
    ['INSUFFICIENT_FUNDS', { debtor: overdrawn, creditor: poor, amount: 501n }],
    ['DEBTOR_NOT_FOUND', { debtor: nobody, creditor: poor, amount: 1n }],
    ['DEBTOR_CLOSED', { debtor: closed, creditor: poor, amount: 1n }],
    ['DEBTOR_BLOCKED', { debtor: blocked, creditor: poor, amount: 1n }],
    ['DEBTOR_CURRENCY', { debtor: euros, creditor: poor, amount: 1n }],
    ['CREDITOR_NOT_FOUND', { debtor: rich, creditor: nobody, amount: 1n }],
    ['CREDITOR_CLOSED', { debtor: rich, creditor: closed, amount: 1n }],
    ['CREDITOR_CLOSED', { debtor: null, creditor: closed, amount: 1n }],
    ['CREDITOR_CURRENCY', { debtor: rich, creditor: euros, amount: 1n }],
    ['CREDITOR_CURRENCY', { debtor: null, creditor: euros, amount: 1n }],
  ]
  t.same(
    TransferOutcome.options.filter((each) => !refusals.some(([outcome]) => outcome === each)),
    ['BOOKED'],
  )
  const before = await lines()
  for (const [outcome, booking] of refusals) t.equal(await book(runtime, booking), outcome)
  for (const [what, booking] of Object.entries<Booking>({
    'to itself': { debtor: rich, creditor: rich, amount: 1n },
    'of nothing': { debtor: rich, creditor: poor, amount: 0n },
    'of less than nothing': { debtor: rich, creditor: poor, amount: -1n },
    'from nobody to nobody': { debtor: null, creditor: null, amount: 1n },
    'of more than can be counted': { debtor: null, creditor: rich, amount: 2n ** 63n - 1n },
  })) {
    await t.rejects(book(runtime, booking), { code: /^23514|22003$/ }, what)
  }
  t.equal(await lines(), before)
  t.equal(await balanceOf({ owner }, rich), 990n)
  const allowed: Booking[] = [
    { debtor: overdrawn, creditor: poor, amount: 500n },
    { debtor: rich, creditor: blocked, amount: 990n },
    { debtor: poor, creditor: null, amount: 510n },
    { debtor: null, creditor: overdrawn, amount: 1n },
  ]
  for (const booking of allowed) t.equal(await book(runtime, booking), 'BOOKED')
  const left = await Array.fromAsync([rich, poor, blocked, overdrawn], (id) => balanceOf({ owner }, id))
  t.same(left, [0n, 0n, 1_990n, -499n])
  // A repeat is answered before anything else is asked: what was booked stays booked.
  await owner.query(`update accounts set status = 'Closed' where id = $1`, [rich])
  t.equal(await book(runtime, { id: known, debtor: rich, creditor: poor, amount: 10n }), 'REPEAT')
  t.same(await faults(), [])
})

t.test('each side sees the other, and the use cases book the same', async (t) => {
  const [from = '', to = ''] = await accounts({ balance: 100n }, { balance: 0n })
  const pool = await makePool({ databaseUrl, role: 'svc_runtime', size: 1 })
  t.teardown(() => pool.end())
  const transfer = {
    id: randomUUID(),
    debtorAccountId: from,
    creditorAccountId: to,
    amountMinor: 40n,
    currency: 'GBP',
    debtorName: 'Ada',
    creditorName: 'Bob',
    reference: 'RENT',
  }
  t.equal(await bookTransfer(pool, transfer), 'BOOKED')
  t.equal(await bookTransfer(pool, transfer), 'REPEAT')
  await t.rejects(
    pool.transaction(async (tx) => {
      await bookTransfer(tx, { ...transfer, id: randomUUID() })
      throw new Error('the caller changed its mind')
    }),
    { message: 'the caller changed its mind' },
  )
  const { rows } = await owner.query(
    `select account_id, number, amount_minor, credit_debit_indicator as side, balance_minor, counterparty_name, reference
     from transactions where transfer_id = $1 order by credit_debit_indicator desc`,
    [transfer.id],
  )
  const line = { amount_minor: 40n, reference: 'RENT' }
  t.strictSame(rows, [
    { ...line, account_id: from, number: 2n, side: 'Debit', balance_minor: 60n, counterparty_name: 'Bob' },
    { ...line, account_id: to, number: 1n, side: 'Credit', balance_minor: 40n, counterparty_name: 'Ada' },
  ])
})

t.test('a given time dates a transfer, but never before earlier bookings on either side', async (t) => {
  const [one = '', other = ''] = await accounts({ balance: 0n }, { balance: 0n })
  const at = async (debtor: string | null, creditor: string, moment: string): Promise<string> => {
    const { rows } = await owner.query(
      `select book_transfer($1, $2, $3, 5, 'GBP', null, null, null, $4::timestamptz) as outcome`,
      [randomUUID(), debtor, creditor, moment],
    )
    t.equal(rows[0].outcome, 'BOOKED')
    const last = await owner.query('select last_booked_at as at from accounts where id = $1', [creditor])
    return last.rows[0].at
  }
  t.equal(await at(null, one, '2026-03-01T00:00:00Z'), '2026-03-01T00:00:00.000Z')
  t.equal(await at(null, one, '2026-02-01T00:00:00Z'), '2026-03-01T00:00:00.000Z')
  t.equal(await at(one, other, '2026-01-01T00:00:00Z'), '2026-03-01T00:00:00.000Z', 'the other side waits for it')
  t.equal(await at(other, one, '2026-04-01T00:00:00Z'), '2026-04-01T00:00:00.000Z')
  t.same(await faults(), [])
})

t.test('concurrent repeats move money once', async (t) => {
  const [from = '', to = '', third = ''] = await accounts({ balance: 100n }, { balance: 0n }, { balance: 100n })
  const twin = { id: randomUUID(), debtor: from, creditor: to, amount: 7n }
  const outcomes = await Promise.all(connections.map((client) => book(client, twin)))
  t.same(outcomes.toSorted(), ['BOOKED', ...connections.slice(1).map(() => 'REPEAT')])
  t.equal(await balanceOf({ owner }, to), 7n)
  // One id for two transfers is a programmer's error: whatever it is told, it moves no money twice.
  const id = randomUUID()
  const clash = await Promise.allSettled([
    book(runtime, { id, debtor: from, creditor: null, amount: 1n }),
    book(second, { id, debtor: third, creditor: null, amount: 1n }),
  ])
  t.equal(clash.filter((each) => each.status === 'fulfilled' && each.value === 'BOOKED').length, 1)
  t.equal((await balanceOf({ owner }, from)) + (await balanceOf({ owner }, third)), 192n)
  t.same(await faults(), [])
})

t.test('concurrent transfers in both directions between two accounts never deadlock', async (t) => {
  const [one = '', other = ''] = await accounts({ balance: 1_000n }, { balance: 1_000n })
  const ways = [
    { debtor: one, creditor: other, amount: 3n },
    { debtor: other, creditor: one, amount: 2n },
  ]
  const outcomes = await Promise.all(
    connections.map((client, index) => {
      const way = ways[index % 2] ?? { debtor: null, creditor: one, amount: 1n }
      return Array.fromAsync({ length: 25 }, () => book(client, way))
    }),
  )
  t.same([...new Set(outcomes.flat())], ['BOOKED'])
  t.equal(await balanceOf({ owner }, one), 925n)
  t.equal(await balanceOf({ owner }, other), 1_075n)
  t.same(await faults(), [])
})

t.test('concurrent transfers neither create nor lose money, and respect every overdraft limit', async (t) => {
  const wishes = fc.array(
    fc.record({
      balance: fc.bigInt({ min: 0n, max: 100n }),
      overdraft: fc.constantFrom(0n, 0n, 50n),
      status: fc.constantFrom(
        'Enabled' as const,
        'Enabled' as const,
        'Enabled' as const,
        'Blocked' as const,
        'Closed' as const,
      ),
    }),
    { minLength: 2, maxLength: 5 },
  )
  const index = fc.integer({ min: -1, max: 4 })
  const moves = fc.array(
    fc.record({ from: index, to: index, amount: fc.bigInt({ min: 1n, max: 60n }), isRepeat: fc.boolean() }),
    { minLength: 20, maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(wishes, moves, async (wanted, asked) => {
      const ids = await accounts(...wanted)
      const side = (at: number): string | null => (at === -1 ? null : (ids[at % ids.length] ?? null))
      const bookings = asked
        .map(({ from, to, amount, isRepeat }) => ({
          isRepeat,
          booking: { id: randomUUID(), debtor: side(from), creditor: side(to), amount },
        }))
        .filter(({ booking }) => booking.debtor !== booking.creditor)
        .flatMap(({ booking, isRepeat }) => (isRepeat ? [booking, booking] : [booking]))
      const lanes = await Promise.all(
        connections.map((client, lane) =>
          Array.fromAsync(
            bookings.filter((_, at) => at % connections.length === lane),
            async (booking) => ({ ...booking, outcome: await book(client, booking) }),
          ),
        ),
      )
      const told = lanes.flat()
      const booked = told.filter(({ outcome }) => outcome === 'BOOKED')
      const bookedIds = new Set(booked.map(({ id }) => id))
      if (bookedIds.size !== booked.length) throw new Error('booked twice')
      if (told.some(({ id, outcome }) => outcome === 'REPEAT' && !bookedIds.has(id))) throw new Error('no repeat')
      const of = (rows: typeof told): bigint => rows.reduce((sum, { amount }) => sum + amount, 0n)
      const begun = wanted.reduce((sum, { balance }) => sum + balance, 0n)
      const came = of(booked.filter(({ debtor }) => debtor === null))
      const went = of(booked.filter(({ creditor }) => creditor === null))
      const { rows } = await owner.query(
        'select coalesce(sum(balance_minor), 0)::bigint as total from accounts where id = any($1)',
        [ids],
      )
      if (rows[0].total !== begun + came - went) throw new Error(`${rows[0].total} is not ${begun} + ${came} - ${went}`)
      const wrong = await faults()
      if (wrong.length > 0)
        throw new Error(JSON.stringify(wrong, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
    }),
    { numRuns: 15, endOnFailure: true },
  )
  t.pass()
})

t.test('an account that is limited, blocked or closed while transfers run keeps to it', async (t) => {
  const [from = '', to = ''] = await accounts({ balance: 0n, overdraft: 200n }, { balance: 0n })
  const pay = { debtor: from, creditor: to, amount: 10n }
  const bookers = connections.slice(1)
  const [[limited], ...lanes] = await Promise.all([
    Promise.allSettled([runtime.query('update accounts set overdraft_limit_minor = 40 where id = $1', [from])]),
    ...bookers.map((client) => Array.fromAsync({ length: 10 }, () => book(client, pay))),
  ])
  // It comes before what would break it, or is refused by what is owed already.
  if (limited.status === 'rejected') t.match(limited.reason, { code: '23514' })
  const { rows } = await owner.query(
    'select overdraft_limit_minor as most, balance_minor from accounts where id = $1',
    [from],
  )
  t.equal(rows[0].most, limited.status === 'rejected' ? 200n : 40n)
  t.equal(rows[0].balance_minor, -rows[0].most, 'owed to the last penny, and no more')
  const told = lanes.flat()
  t.equal(BigInt(told.filter((outcome) => outcome === 'BOOKED').length) * 10n, rows[0].most)
  t.same([...new Set(told)].toSorted(), ['BOOKED', 'INSUFFICIENT_FUNDS'])
  for (const [status, outcome] of [
    ['Blocked', 'DEBTOR_BLOCKED'],
    ['Closed', 'DEBTOR_CLOSED'],
  ] as const) {
    const [payer = ''] = await accounts({ balance: 10_000_000n })
    const [, ...told] = await Promise.all([
      runtime.query('update accounts set status = $2 where id = $1', [payer, status]),
      ...bookers.map(async (client) => {
        const own: TransferOutcome[] = []
        while (own.at(-1) !== outcome && own.length < 20_000) own.push(await book(client, { ...pay, debtor: payer }))
        return [...own, await book(client, { ...pay, debtor: payer })]
      }),
    ])
    for (const own of told) {
      t.same(own.slice(-2), [outcome, outcome], 'once it is so, nothing is booked any more')
      t.ok(own.slice(0, -2).every((each) => each === 'BOOKED'))
    }
    const booked = told.flat().filter((each) => each === 'BOOKED').length
    t.equal(await balanceOf({ owner }, payer), 10_000_000n - BigInt(booked) * 10n)
  }
  t.same(await faults(), [])
})

t.test('books are append-only, through book_transfer alone, for every role', async (t) => {
  const [id = ''] = await accounts({ balance: 100n })
  const before = await lines()
  for (const client of [runtime, owner]) {
    for (const table of ['transfers', 'transactions']) {
      for (const statement of [
        `update ${table} set amount_minor = 1`,
        `delete from ${table}`,
        `delete from ${table} where false`,
        `truncate ${table} cascade`,
      ]) {
        await t.rejects(client.query(statement), { code: '42501' }, statement)
      }
    }
    const [customer] = (await owner.query('select customer_id as id from accounts where id = $1', [id])).rows
    const opened = `insert into accounts (id, customer_id, currency, account_type, account_sub_type, name, iban, balance_minor, transaction_count)
      values (gen_random_uuid(), $1, 'GBP', 'Personal', 'CurrentAccount', 'X', 'GB33BUKB20201555555555', $2, $3)`
    await t.rejects(client.query(opened, [customer.id, 1, 0]), { code: '23514' }, 'no account begins with money')
    await t.rejects(client.query(opened, [customer.id, 0, 1]), { code: '23514' })
  }
  for (const statement of [
    'update accounts set balance_minor = 1',
    'update accounts set transaction_count = 0',
    `update accounts set last_booked_at = 'infinity'`,
    `update accounts set currency = 'EUR'`,
    'update accounts set customer_id = id',
    'delete from accounts',
    `insert into transfers (id, creditor_account_id, amount_minor, currency, booked_at) values (gen_random_uuid(), '${id}', 1, 'GBP', now())`,
    `insert into transactions (account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor)
     select account_id, number + 1, transfer_id, 1, 'Credit', now(), 1 from transactions limit 1`,
  ]) {
    await t.rejects(runtime.query(statement), { code: '42501' }, statement)
  }
  await t.rejects(
    owner.query('update accounts set balance_minor = -1 where id = $1', [id]),
    { code: '23514' },
    'no one can make an account owe more than it may',
  )
  t.equal(await lines(), before)
  t.equal(await balanceOf({ owner }, id), 100n)
  await owner.query('begin')
  await owner.query('update accounts set balance_minor = 101 where id = $1', [id])
  t.match(await faults(), [{ fault: 'a balance that is not its lines', id }], 'a penny too much would be noticed')
  await owner.query('rollback')
  t.same(await faults(), [])
})
