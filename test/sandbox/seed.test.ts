import t from 'tap'
import { parseDay } from '../../src/lib/london-time.ts'
import { bankHolidays, isWorkingDay } from '../../src/lib/working-days.ts'
import { seedSandbox } from '../../src/sandbox/seed-sandbox.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'

const ACTOR = { id: 'test', name: 'test', role: 'OWNER' }
const TODAY = parseDay('2026-11-21')
const service = await testService(t)
const other = await testService(t)

function seed({ app }: TestService, wish: { seed: number; customers: number; days: number }) {
  return seedSandbox(app, { ...wish, actor: ACTOR, today: TODAY })
}

/** Every row of the bank's books, written as text. */
async function booksOf({ owner }: TestService): Promise<string[]> {
  const { rows } = await owner.query(`
    select 'customer' as of, to_jsonb(c)::text as row from customers c
    union all select 'proxy', to_jsonb(p)::text from customer_proxies p
    union all select 'account', to_jsonb(a)::text from accounts a
    union all select 'transfer', to_jsonb(t)::text from transfers t
    union all select 'transaction', to_jsonb(t)::text from transactions t
    order by 1, 2
  `)
  return rows.map((row) => `${row.of} ${row.row}`)
}

t.test('the same number makes the same rows in another database, and a repeat none', async (t) => {
  const wish = { seed: 7, customers: 4, days: 60 }
  const made = await seed(service, wish)
  t.equal(made.alreadyThere, 0)
  t.equal(made.customers.length, 4)
  const rows = await booksOf(service)
  t.equal(rows.filter((row) => row.startsWith('transaction ')).length, made.transactions)
  t.ok(made.transactions > 200, `${made.transactions} transactions`)
  await seed(other, wish)
  t.same(await booksOf(other), rows)
  const again = await seed(service, wish)
  t.same(again, { customers: made.customers, transactions: 0, alreadyThere: 4 })
  t.same(await booksOf(service), rows)
  const { rows: acts } = await service.owner.query(
    `select after from operator_actions where action = 'sandbox.seed' order by ordinal`,
  )
  t.match(acts, [{ after: { seed: 7, customers: 4, days: 60 } }])
})

t.test('more customers of the same seed are added to the existing ones; another seed creates others', async (t) => {
  const before = await booksOf(other)
  const more = await seed(other, { seed: 7, customers: 5, days: 60 })
  t.match(more, { alreadyThere: 4, customers: { length: 5 } })
  const after = new Set(await booksOf(other))
  t.ok(before.every((row) => after.has(row)))
  const others = await seed(other, { seed: 8, customers: 4, days: 20 })
  t.equal(others.alreadyThere, 0)
  const known = new Set(more.customers.map(({ customer_id }) => customer_id))
  t.notOk(others.customers.some(({ customer_id }) => known.has(customer_id)))
  t.match((await other.call('GET', '/api/v1/sandbox/books')).body, { is_balanced: true })
})

t.test('the history is plausible: days up to yesterday, in order, never below the overdraft', async (t) => {
  const { owner } = service
  const { rows } = await owner.query(`
    select min(booking_date_time) >= '2026-09-22T00:00:00+01' and max(booking_date_time) < '2026-11-21T00:00:00Z' as in_days,
      bool_and(t.balance_minor >= -a.overdraft_limit_minor) as bearable,
      bool_and(reference is not null and counterparty_name is not null) as told,
      array_agg(distinct reference) as references
    from transactions t join accounts a on a.id = t.account_id
  `)
  t.match(rows, [{ in_days: true, bearable: true, told: true }])
  for (const reference of ['SALARY', 'RENT', 'GAS AND ELECTRIC', 'GROCERIES', 'TRAVEL', 'COFFEE', 'RAINY DAY'])
    t.ok(rows[0].references.includes(reference), reference)
  const monthly = await owner.query(`
    select reference, (booking_date_time at time zone 'Europe/London')::date::text as day
    from transactions where reference in ('SALARY', 'RENT', 'GAS AND ELECTRIC') group by 1, 2
  `)
  const holidays = bankHolidays()
  const free = monthly.rows.filter(({ day }) => !isWorkingDay(parseDay(day), holidays))
  t.same(free, [], 'salaries and bills are paid on working days')
  const rents = monthly.rows.filter(({ reference }) => reference === 'RENT').map(({ day }) => day)
  t.same(rents.toSorted(), ['2026-10-01', '2026-11-02'], 'payments due on a Sunday are paid on the Monday')
  const between = await owner.query(`
    select count(*) filter (where d.customer_id <> c.customer_id)::int as friends,
      count(*) filter (where d.customer_id = c.customer_id)::int as own
    from transfers t join accounts d on d.id = t.debtor_account_id join accounts c on c.id = t.creditor_account_id
  `)
  t.ok(
    between.rows[0].friends > 0 && between.rows[0].own > 0,
    'customers pay each other, and move money between their own accounts',
  )
  const ordered = await owner.query(`
    select bool_and(later.booking_date_time >= t.booking_date_time) as ok
    from transactions t join transactions later on later.account_id = t.account_id and later.number = t.number + 1
  `)
  t.same(ordered.rows, [{ ok: true }])
  const people = await owner.query(`select email from customers where email !~ '^[a-z.0-9]+@example[.]org$'`)
  t.equal(people.rowCount, 0)
  const mobiles = await owner.query(
    `select from customer_proxies where kind = 'MOBILE' and proxy !~ '^[+]447700900[0-9]{3}$'`,
  )
  t.equal(mobiles.rowCount, 0)
})

t.test('processes that seed at once make everything once', async (t) => {
  const fresh = await testService(t)
  const wish = { seed: 7, customers: 4, days: 60 }
  const made = await Promise.all([seed(fresh, wish), seed(fresh, wish), seed(fresh, { ...wish, seed: 9, days: 30 })])
  t.same(made.map(({ alreadyThere }) => alreadyThere).toSorted(), [0, 0, 4])
  t.same(made[0]?.customers, made[1]?.customers)
  t.match((await fresh.call('GET', '/api/v1/sandbox/books')).body, {
    is_balanced: true,
    totals: [{ currency: 'GBP', difference: '0.00', wrong_accounts: 0 }],
  })
})

t.test('a taken mobile number is omitted, and its owner keeps it', async (t) => {
  const fresh = await testService(t)
  const [first] = (await seed(other, { seed: 7, customers: 1, days: 60 })).customers
  const wish = { name: 'Early Bird', mobile: first?.mobile }
  t.match(await fresh.call('POST', '/api/v1/sandbox/customers', { body: wish }), { status: 201 })
  const [seeded] = (await seed(fresh, { seed: 7, customers: 1, days: 5 })).customers
  t.match(seeded, { mobile: null, email: first?.email, customer_id: first?.customer_id })
})

t.test('over HTTP: five customers and a year by default, and invalid fields are named', async (t) => {
  const fresh = await testService(t)
  const began = performance.now()
  const { status, body } = await fresh.call('POST', '/api/v1/sandbox/seed')
  t.comment(`${Math.round(performance.now() - began)} ms for ${body.transactions} transactions`)
  t.match({ status, body }, { status: 201, body: { seed: 1, already_there: 0, customers: { length: 5 } } })
  t.ok(body.transactions > 3_000)
  t.match(body.customers[0], {
    customer_id: /^customer-[0-9a-f]{12}$/,
    email: /@example\.org$/,
    client_id: null,
    accounts: [{ currency: 'GBP', identifications: [{ SchemeName: 'UK.OBIE.SortCodeAccountNumber' }, {}] }],
  })
  const again = await fresh.call('POST', '/api/v1/sandbox/seed', { body: { seed: 1 } })
  t.same(again.body, { ...body, transactions: 0, already_there: 5 })
  for (const [path, value] of [
    ['seed', -1],
    ['seed', 1.5],
    ['customers', 0],
    ['customers', 101],
    ['days', 731],
    ['days', '30'],
    ['days', 201],
  ] as const) {
    const body = path === 'days' ? { customers: 100, days: value } : { [path]: value }
    const refused = await fresh.call('POST', '/api/v1/sandbox/seed', { body })
    t.match(refused, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path }] } }, `${path} ${value}`)
  }
})
