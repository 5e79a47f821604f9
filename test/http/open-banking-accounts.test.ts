import { randomUUID } from 'node:crypto'
import t from 'tap'
import { request } from 'undici'
import { settlementAccountOf } from '../../src/accounts/settlement-account.ts'
import { CUSTOMERS_REALM } from '../../src/lib/realms.ts'
import { ErrorResponse } from '../../src/wire/open-banking.ts'
import { testService } from '../support/app.ts'
import type { Answer, TestService } from '../support/app.ts'
import { addCustomer } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { serviceWithRealms } from '../support/realms.ts'

const BASE = '/open-banking/v1'
const service = await testService(t)
const grace = await addCustomer(service, { accounts: [{ balance: 0n, iban: 'GB33BUKB20201555555555' }] })
const henry = await addCustomer(service, { name: 'Henry Other' })
/** The whole of grace's account is the transactions `1` to `BOOKED`, an hour apart from this moment on. */
const BEGIN = '2026-01-31T22:00:00.123456Z'
const BOOKED = 120
await service.owner.query(
  `select book_transfer(
     gen_random_uuid(), null, $1, n, 'GBP', 'Payer ' || n, null, 'REF ' || n, $2::timestamptz + (n - 1) * interval '1 hour'
   )
   from generate_series(1, $3::int) n`,
  [grace.account.id, BEGIN, BOOKED],
)
const BALANCES = `/accounts/${grace.account.id}/balances`
const TRANSACTIONS = `/accounts/${grace.account.id}/transactions`
const EVERY_PATH = ['/accounts', BALANCES, TRANSACTIONS]

function get(
  path: string,
  headers: Record<string, string> = grace.headers,
  of: TestService = service,
): Promise<Answer> {
  return of.call('GET', BASE + path, { headers })
}

/** The body of decision 10, whole, within the lengths of its schema, and nothing that shows the inside. */
function isError(answer: Answer, status: number, codes: readonly string[]): string | undefined {
  if (answer.status !== status) return `status ${answer.status} ${answer.text}`
  const { success, data, error } = ErrorResponse.safeParse(answer.body)
  if (!success) return error.message
  if (!data.Code.startsWith(`${status} `)) return data.Code
  const got = data.Errors.map(({ ErrorCode, Path }) => (Path === undefined ? ErrorCode : `${ErrorCode} ${Path}`))
  if (got.toSorted().join() !== codes.toSorted().join()) return answer.text
  if (answer.headers['x-fapi-interaction-id'] !== data.Id) return 'another interaction id in the header'
  if (!/^[0-9a-f-]{36}$/i.test(data.Id)) return data.Id
  if (!data.Errors.every(({ Url = '' }) => /^http:\/\/127\.0\.0\.1:\d+\/errors\/[a-z-]+$/.test(Url)))
    return 'a link to nowhere'
  if ([data.Message, ...data.Errors.map(({ Message }) => Message)].some((text) => text === '' || text.length > 500))
    return 'a message of another length'
  if (answer.headers['content-type'] !== 'application/json; charset=utf-8')
    return String(answer.headers['content-type'])
  if (answer.headers['cache-control'] !== 'no-store') return 'it may be cached'
  return /\bat \/|node_modules|select |postgres|slonik/i.test(answer.text) ? 'it shows the inside' : undefined
}

/** An address of the service's own, as a path that can be asked for. */
function pathOf(link: string): string {
  const root = service.app.publicUrl + BASE
  if (!link.startsWith(root)) throw new Error(`${link} is no address of this surface`)
  return link.slice(root.length)
}

/** The numbers of a page's transactions, which the amounts are. */
function numbersOf({ body }: Answer): number[] {
  return body.Data.map((each: { Amount: { Amount: string } }) => Number(each.Amount.Amount.replace('.', '')))
}

function downFrom(first: number, to: number): number[] {
  return Array.from({ length: first - to + 1 }, (_, index) => first - index)
}

t.test('a customer sees all of its accounts, and only those, by the names under which others pay them', async (t) => {
  const { rows } = await service.owner.query(
    `insert into accounts (id, customer_id, currency, account_type, account_sub_type, name, nickname, iban, status, created_at)
     values (gen_random_uuid(), $1, 'EUR', 'Business', 'Savings', 'Grace Payer', 'Holidays', 'DE89370400440532013000', 'Blocked', '2020-01-01Z')
     returning id`,
    [grace.id],
  )
  const answer = await get('/accounts')
  t.equal(answer.status, 200)
  t.equal(answer.headers['cache-control'], 'no-store')
  const self = `${service.app.publicUrl}${BASE}/accounts?page=1&pageSize=100`
  t.strictSame(answer.body, {
    Data: [
      {
        AccountId: rows[0].id,
        Currency: 'EUR',
        AccountType: 'Business',
        AccountSubType: 'Savings',
        Nickname: 'Holidays',
        Status: 'Blocked',
        Account: [{ SchemeName: 'UK.OBIE.IBAN', Identification: 'DE89370400440532013000', Name: 'Grace Payer' }],
      },
      {
        AccountId: grace.account.id,
        Currency: 'GBP',
        AccountType: 'Personal',
        AccountSubType: 'CurrentAccount',
        Status: 'Enabled',
        Account: [
          {
            SchemeName: 'UK.OBIE.SortCodeAccountNumber',
            Identification: grace.account.number,
            Name: 'Grace Payer',
          },
          { SchemeName: 'UK.OBIE.IBAN', Identification: 'GB33BUKB20201555555555', Name: 'Grace Payer' },
        ],
      },
    ],
    Links: { Self: self, First: self, Last: self },
    Meta: { TotalPages: 1 },
  })
  const others = await get('/accounts', henry.headers)
  t.same(
    others.body.Data.map(({ AccountId }: { AccountId: string }) => AccountId),
    [henry.account.id],
  )
})

t.test('accounts come in pages too, in the order in which they were opened', async (t) => {
  const many = await addCustomer(service, { accounts: Array.from({ length: 27 }, () => ({ balance: 0n })) })
  // All at one moment but for one: then the id decides.
  await service.owner.query(`update accounts set created_at = '2026-01-02Z' where customer_id = $1`, [many.id])
  const last = many.accounts[0]?.id ?? ''
  await service.owner.query(`update accounts set created_at = '2026-01-03Z' where id = $1`, [last])
  const ids = (answer: Answer): string[] => answer.body.Data.map(({ AccountId }: { AccountId: string }) => AccountId)
  const [first, second, third] = [
    await get('/accounts?pageSize=25', many.headers),
    await get('/accounts?pageSize=25&page=2', many.headers),
    await get('/accounts?pageSize=25&page=3', many.headers),
  ]
  const others = many.accounts.slice(1).map(({ id }) => id)
  t.same([...ids(first), ...ids(second)], [...others.toSorted(), last])
  t.same([ids(first).length, ids(second).length, ids(third).length], [25, 2, 0])
  t.same(
    [first, second, third].map(({ body }) => body.Meta.TotalPages),
    [2, 2, 2],
  )
  t.match(pathOf(third.body.Links.Prev), /\?page=2&pageSize=25$/)
  t.notOk('Next' in third.body.Links || 'Next' in second.body.Links)
})

t.test('a balance is an amount with its side, and nothing is Credit', async (t) => {
  const customer = await addCustomer(service, {
    accounts: [
      { balance: 0n },
      { balance: 123_456n },
      { balance: 5n, overdraft: 10_000n },
      { balance: 7n, currency: 'EUR' },
    ],
  })
  const owing = customer.accounts[2]?.id ?? ''
  await service.owner.query(`select book_transfer(gen_random_uuid(), $1, null, 1010, 'GBP', null, 'A shop', 'card')`, [
    owing,
  ])
  const said: string[] = []
  for (const { id } of customer.accounts) {
    const path = `/accounts/${id}/balances`
    const { status, body } = await get(path, customer.headers)
    t.equal(status, 200)
    const { Data, ...rest } = body
    t.strictSame(rest, { Links: { Self: `${service.app.publicUrl}${BASE}${path}` }, Meta: { TotalPages: 1 } })
    t.same(Object.keys(Data), ['AccountId', 'BalanceAmount', 'CreditDebitIndicator'])
    t.equal(Data.AccountId, id)
    said.push(`${Data.CreditDebitIndicator} ${Data.BalanceAmount.Amount} ${Data.BalanceAmount.Currency}`)
  }
  t.same(said, ['Credit 0.00 GBP', 'Credit 1234.56 GBP', 'Debit 10.05 GBP', 'Credit 0.07 EUR'])
  const { body } = await get(`/accounts/${owing}/transactions`, customer.headers)
  t.match(body.Data[0], {
    Amount: { Amount: '10.10', Currency: 'GBP' },
    CreditDebitIndicator: 'Debit',
    Balance: { Amount: { Amount: '10.05', Currency: 'GBP' }, CreditDebitIndicator: 'Debit' },
    TransactionReference: 'card',
    TransactionInformation: 'A shop',
  })
  t.equal(body.Data[1].Balance.CreditDebitIndicator, 'Credit')
})

t.test(
  'transactions come newest first, each with the balance after it, and turn over without gap or repeat',
  async (t) => {
    const seen: Answer['body'][] = []
    let path: string | undefined = `${TRANSACTIONS}?pageSize=25`
    const pages: Answer[] = []
    while (path !== undefined) {
      const answer = await get(path)
      t.equal(answer.status, 200)
      pages.push(answer)
      seen.push(...answer.body.Data)
      path = answer.body.Links.Next === undefined ? undefined : pathOf(answer.body.Links.Next)
    }
    t.same(
      pages.map((page) => numbersOf(page)),
      [downFrom(120, 96), downFrom(95, 71), downFrom(70, 46), downFrom(45, 21), downFrom(20, 1)],
    )
    const ids = seen.map(({ TransactionId }) => TransactionId)
    t.same(ids, ids.toSorted().toReversed(), 'ids sort as the transactions do')
    t.equal(new Set(ids).size, BOOKED)
    t.strictSame(seen[0], {
      TransactionId: `${grace.account.id.slice(-12)}-000000000120`,
      Amount: { Amount: '1.20', Currency: 'GBP' },
      CreditDebitIndicator: 'Credit',
      Status: 'Booked',
      BookingDateTime: '2026-02-05T21:00:00.123Z',
      TransactionReference: 'REF 120',
      TransactionInformation: 'Payer 120',
      Balance: { Amount: { Amount: '72.60', Currency: 'GBP' }, CreditDebitIndicator: 'Credit' },
    })
    t.equal(seen[1].Balance.Amount.Amount, '71.40')
    const at = (page: number): string => `${service.app.publicUrl}${BASE}${TRANSACTIONS}?page=${page}&pageSize=25`
    t.strictSame(pages[0]?.body.Links, { Self: at(1), First: at(1), Next: at(2), Last: at(5) })
    t.strictSame(pages[2]?.body.Links, { Self: at(3), First: at(1), Prev: at(2), Next: at(4), Last: at(5) })
    t.strictSame(pages[4]?.body.Links, { Self: at(5), First: at(1), Prev: at(4), Last: at(5) })
    for (const page of [6, 7, 100_000_000]) {
      const { status, body } = await get(`${TRANSACTIONS}?pageSize=25&page=${page}`)
      t.equal(status, 200)
      t.strictSame(body, {
        Data: [],
        Links: { Self: at(page), First: at(1), Prev: at(5), Last: at(5) },
        Meta: { TotalPages: 5 },
      })
    }
    const whole = await get(TRANSACTIONS)
    t.equal(whole.body.Data.length, 100, 'a hundred where nothing is said')
    t.equal(whole.body.Meta.TotalPages, 2)
    t.equal((await get(`${TRANSACTIONS}?pageSize=1000`)).body.Data.length, BOOKED)
  },
)

t.test('a period includes both ends, a day as its end includes the whole day, and zones are ignored', async (t) => {
  // The 1st of February begins with number 3 at 00:00:00.123456, and ends with number 26 at 23:00:00.123456.
  const cases: [query: string, first: number, last: number][] = [
    ['fromBookingDateTime=2026-02-01', 3, 120],
    ['toBookingDateTime=2026-02-01', 1, 26],
    ['fromBookingDateTime=2026-02-01&toBookingDateTime=2026-02-01', 3, 26],
    ['fromBookingDateTime=2026-02-01T23:00&toBookingDateTime=2026-02-01', 26, 26],
    ['fromBookingDateTime=2026-02-01T01:00:00.123', 4, 120],
    ['fromBookingDateTime=2026-02-01T01:00:00.123456', 4, 120],
    ['fromBookingDateTime=2026-02-01T01:00:00.123457', 5, 120],
    ['toBookingDateTime=2026-02-01T01:00:00.123', 1, 4],
    ['toBookingDateTime=2026-02-01T01:00:00.12', 1, 3],
    ['toBookingDateTime=2026-02-01T01:00', 1, 3],
    ['toBookingDateTime=2026-02-01T01:00:00.123455', 1, 3],
    ['toBookingDateTime=2026-02-01T01:00:00.123456', 1, 4],
    ['fromBookingDateTime=2026-02-01T01:00:00.123Z&toBookingDateTime=2026-02-01T01:00:00.123Z', 4, 4],
    ['fromBookingDateTime=2026-02-01T01:00:00%2B05:00', 4, 120],
    ['fromBookingDateTime=2026-02-01T01:00:00+05:00', 4, 120],
    ['fromBookingDateTime=2026-02-01T01:00:00-0500', 4, 120],
    ['fromBookingDateTime=0001-01-01&toBookingDateTime=9999-12-31', 1, 120],
  ]
  for (const [query, first, last] of cases) {
    const answer = await get(`${TRANSACTIONS}?pageSize=1000&${query}`)
    t.same(answer.status === 200 ? numbersOf(answer) : answer.text, downFrom(last, first), query)
    t.equal(answer.body.Meta?.TotalPages, 1, query)
  }
  for (const query of [
    'fromBookingDateTime=2027-01-01',
    'toBookingDateTime=2025-12-31',
    'fromBookingDateTime=2026-02-01T01:30&toBookingDateTime=2026-02-01T01:40',
  ]) {
    const { status, body } = await get(`${TRANSACTIONS}?${query}`)
    t.equal(status, 200, query)
    t.same([body.Data, body.Meta.TotalPages, Object.keys(body.Links)], [[], 1, ['Self', 'First', 'Last']], query)
  }
})

t.test('the links of a period keep it, whatever is in it', async (t) => {
  const filter = 'fromBookingDateTime=2026-02-01T00:00:00%2B01:00&toBookingDateTime=2026-02-03'
  const first = await get(`${TRANSACTIONS}?${filter}&pageSize=25`)
  t.equal(first.body.Meta.TotalPages, 3)
  const second = await get(pathOf(first.body.Links.Next))
  const last = await get(pathOf(first.body.Links.Last))
  t.same(
    [first, second, last].map((page) => numbersOf(page)),
    [downFrom(74, 50), downFrom(49, 25), downFrom(24, 3)],
  )
  t.same((await get(pathOf(last.body.Links.Prev))).body, second.body)
  const said = new URL(second.body.Links.Self).searchParams
  t.strictSame(Object.fromEntries(said), {
    page: '2',
    pageSize: '25',
    fromBookingDateTime: '2026-02-01T00:00:00+01:00',
    toBookingDateTime: '2026-02-03',
  })
  const past = await get(`${TRANSACTIONS}?${filter}&pageSize=25&page=9`)
  t.same(past.body.Data, [])
  t.equal(past.body.Links.Prev, first.body.Links.Last)
})

t.test('an invalid query is rejected with all its errors, each with its code', async (t) => {
  const field = (path: string): string => `UK.OBIE.Field.Invalid ${path}`
  const date = (path: string): string => `UK.OBIE.Field.InvalidDate ${path}`
  const wrongNumbers = [
    '0',
    '-1',
    '1.5',
    'abc',
    '',
    '%20',
    '1e1',
    '0x1',
    '%2B1',
    '100000001',
    '99999999999999999999',
    'NaN',
    '１',
  ]
  for (const path of ['/accounts', TRANSACTIONS]) {
    for (const value of wrongNumbers) {
      t.equal(isError(await get(`${path}?page=${value}`), 400, [field('page')]), undefined, `page=${value}`)
    }
    for (const value of [...wrongNumbers, '24', '1001']) {
      t.equal(isError(await get(`${path}?pageSize=${value}`), 400, [field('pageSize')]), undefined, `pageSize=${value}`)
    }
    t.equal(isError(await get(`${path}?page=1&page=2`), 400, [field('page')]), undefined, 'two values')
    t.equal(isError(await get(`${path}?pageSize=25&pageSize=25`), 400, [field('pageSize')]), undefined)
    const unknown = ['UK.OBIE.Field.Unexpected Page', 'UK.OBIE.Field.Unexpected cursor']
    t.equal(isError(await get(`${path}?Page=1&cursor=x&page=0`), 400, [...unknown, field('page')]), undefined)
  }
  t.equal(isError(await get(`${BALANCES}?page=1`), 400, ['UK.OBIE.Field.Unexpected page']), undefined)
  t.equal(
    isError(await get('/accounts?fromBookingDateTime=2026-02-01'), 400, [
      'UK.OBIE.Field.Unexpected fromBookingDateTime',
    ]),
    undefined,
  )
  const wrongDates = [
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-02-29',
    '0000-01-01',
    '26-01-01',
    '2026-1-1',
    '2026-01-01T24:61',
    '2026-01-01T24:00',
    '2026-01-01T23:60',
    '2026-01-01T9:00',
    '2026-01-01T',
    '2026-01-01T09',
    '2026-01-01T09:00:61',
    '2026-01-01%2009:00',
    '2026-01-01T09:00:00.1234567',
    '2026-01-01T09:00:00+1',
    '1767225600',
    'today',
    'infinity',
    '',
    '2026-01-01%00',
    "2026-01-01'--",
    '+12026-01-01',
  ]
  for (const name of ['fromBookingDateTime', 'toBookingDateTime']) {
    for (const value of wrongDates) {
      t.equal(isError(await get(`${TRANSACTIONS}?${name}=${value}`), 400, [date(name)]), undefined, `${name}=${value}`)
    }
  }
  const twice = 'fromBookingDateTime=2026-01-01&fromBookingDateTime=2026-01-02'
  t.equal(isError(await get(`${TRANSACTIONS}?${twice}`), 400, [field('fromBookingDateTime')]), undefined)
  const all = 'page=0&pageSize=24&fromBookingDateTime=2026-02-30&toBookingDateTime=x&sort=asc'
  t.equal(
    isError(await get(`${TRANSACTIONS}?${all}`), 400, [
      field('page'),
      field('pageSize'),
      date('fromBookingDateTime'),
      date('toBookingDateTime'),
      'UK.OBIE.Field.Unexpected sort',
    ]),
    undefined,
  )
  for (const [from, to] of [
    ['2026-02-02', '2026-02-01'],
    ['2026-02-01T00:00:00.002', '2026-02-01T00:00:00.001'],
    ['2026-02-02T00:00', '2026-02-01'],
  ]) {
    const answer = await get(`${TRANSACTIONS}?fromBookingDateTime=${from}&toBookingDateTime=${to}`)
    t.equal(isError(answer, 400, [date('fromBookingDateTime'), date('toBookingDateTime')]), undefined, `${from} ${to}`)
  }
  const long = Array.from({ length: 60 }, (_, index) => `unknown-${index}=1`).join('&')
  const answer = await get(`/accounts?${long}&${'x'.repeat(2_000)}=1`)
  t.equal(answer.status, 400)
  t.equal(answer.body.Errors.length, 61)
  t.ok(answer.body.Message.length <= 500, 'a message keeps to the schema, however much is wrong')
  t.ok(answer.body.Errors.every(({ Path }: { Path: string }) => Path.length <= 500))
})

t.test("another customer's account, an unknown one and an invalid id get the same response", async (t) => {
  const id = randomUUID()
  const headers = { ...grace.headers, 'x-fapi-interaction-id': id }
  for (const rest of [
    'balances',
    'transactions',
    'transactions?page=7',
    'transactions?fromBookingDateTime=2026-01-01',
  ]) {
    const answers: Answer[] = []
    for (const account of [
      henry.account.id,
      randomUUID(),
      'no-id',
      '%27%20or%201=1--',
      '%00',
      'x'.repeat(500),
      '..%2f',
    ]) {
      answers.push(await get(`/accounts/${account}/${rest}`, headers))
    }
    t.equal(isError(answers[0] as Answer, 404, ['UK.OBIE.Resource.NotFound']), undefined, rest)
    t.equal(new Set(answers.map(({ text, headers: of }) => text + JSON.stringify({ ...of, date: '' }))).size, 1, rest)
  }
  t.equal((await get(`/accounts/${grace.account.id.toUpperCase()}/balances`)).body.Data.AccountId, grace.account.id)
  const { body } = await service.call('GET', '/errors/account-not-found')
  t.match(body, { code: 'ACCOUNT_NOT_FOUND', operations: [`GET ${BASE}/accounts/{AccountId}/balances`, String] })
})

t.test('no response contains data of another customer', async (t) => {
  const theirs = [henry.account.id, henry.account.number, henry.name, henry.externalId, henry.account.id.slice(-12)]
  for (const path of [
    ...EVERY_PATH,
    `/accounts/${henry.account.id}/balances`,
    `/accounts/${henry.account.id}/transactions`,
  ]) {
    const { text } = await get(path)
    t.same(
      theirs.filter((secret) => text.includes(secret)),
      [],
      path,
    )
  }
})

t.test('the id of the exchange is played back, in failures too, and must be a UUID', async (t) => {
  const id = randomUUID().toUpperCase()
  const asked: [path: string, headers: Record<string, string>][] = [
    ...EVERY_PATH.map((path): [string, Record<string, string>] => [path, grace.headers]),
    [`/accounts/${randomUUID()}/balances`, grace.headers],
    ['/accounts?page=0', grace.headers],
    ['/accounts', {}],
    ['/accounts', { ...grace.headers, accept: 'text/html' }],
  ]
  for (const [path, headers] of asked) {
    const answer = await get(path, { ...headers, 'x-fapi-interaction-id': id })
    t.equal(answer.headers['x-fapi-interaction-id'], id, path)
    if (answer.status !== 200) t.equal(answer.body.Id, id)
  }
  const refused = await service.call('POST', `${BASE}/accounts`, { headers: { 'x-fapi-interaction-id': id } })
  t.equal(refused.headers['x-fapi-interaction-id'], id)
  for (const wrong of ['x', '', id.slice(1), `${id}, ${id}`]) {
    const answer = await get('/accounts?page=0', { ...grace.headers, 'x-fapi-interaction-id': wrong })
    const codes = ['UK.OBIE.Header.Invalid x-fapi-interaction-id', 'UK.OBIE.Field.Invalid page']
    t.equal(isError(answer, 400, codes), undefined, wrong)
  }
  const made = await get('/accounts')
  t.match(made.headers['x-fapi-interaction-id'], /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  // The name that the other surface knows is no UUID: it may not become one here.
  const named = await get('/accounts?page=0', { ...grace.headers, 'x-request-id': 'a'.repeat(64) })
  t.equal(isError(named, 400, ['UK.OBIE.Field.Invalid page']), undefined)
})

t.test('an address says which methods it has; no address is the bare answer of anywhere', async (t) => {
  for (const path of EVERY_PATH) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
      const answer = await service.call(method, BASE + path, { headers: grace.headers })
      t.equal(isError(answer, 405, ['UK.OBIE.Resource.InvalidFormat']), undefined, `${method} ${path}`)
      t.equal(answer.headers['allow'], 'GET, HEAD')
    }
    const options = await request(service.url + BASE + path, { method: 'OPTIONS', headers: grace.headers })
    t.equal(options.statusCode, 405)
    t.equal(options.headers['allow'], 'GET, HEAD')
    t.notOk('access-control-allow-origin' in options.headers, 'no page of a browser may read accounts')
    await options.body.dump()
    const [head, whole] = [
      await request(service.url + BASE + path, { method: 'HEAD', headers: grace.headers }),
      await get(path),
    ]
    t.equal(head.statusCode, 200, `HEAD ${path}`)
    t.equal(head.headers['content-length'], whole.headers['content-length'])
    t.equal(await head.body.text(), '')
    const refused = await request(service.url + BASE + path, { method: 'HEAD' })
    t.equal(refused.statusCode, 401, 'HEAD proves its caller like GET')
    await refused.body.dump()
  }
  for (const path of ['/nothing', `/accounts/${grace.account.id}`, `${BALANCES}/x`, '/accounts//', '']) {
    const answer = await get(path)
    t.equal(answer.status, 404, path)
    t.strictSame(answer.body, { message: `Route GET:${BASE}${path} not found` })
  }
  const slashed = `${BASE}/accounts/`
  t.equal(isError(await service.call('GET', slashed), 401, ['UK.OBIE.Header.Invalid']), undefined)
  t.equal(isError(await service.call('POST', slashed), 405, ['UK.OBIE.Resource.InvalidFormat']), undefined)
  for (const method of ['GET', 'POST'] as const) {
    const inCapitals = await service.call(method, '/Open-Banking/V1/ACCOUNTS')
    t.equal(inCapitals.status, 404, 'an address has one case')
    t.strictSame(inCapitals.body, { message: `Route ${method}:/Open-Banking/V1/ACCOUNTS not found` })
  }
})

t.test('a client that does not accept JSON gets 406', async (t) => {
  for (const accept of [
    'text/html',
    'text/csv',
    'application/json;q=0',
    'application/xml, text/*',
    'application/json;charset=latin1',
  ]) {
    const answer = await get('/accounts', { ...grace.headers, accept })
    t.equal(isError(answer, 406, ['UK.OBIE.Header.Invalid']), undefined, accept)
  }
  for (const accept of [
    'application/json',
    '*/*',
    'application/*;q=0.1',
    'text/html, */*;q=0.1',
    'application/json; charset=utf-8',
    '',
  ]) {
    t.equal((await get('/accounts', { ...grace.headers, accept })).status, 200, accept)
  }
})

t.test('without a provider, the header names the customer; without a known one, the request is rejected', async (t) => {
  for (const headers of [
    {},
    { 'x-customer-id': '' },
    { 'x-customer-id': 'nobody' },
    { 'x-customer-id': grace.id },
    { 'x-customer-id': 'x'.repeat(300) },
    { 'x-customer-id': `${grace.externalId} ` + henry.externalId },
    { 'x-merchant-client-id': 'm' },
    { 'x-platform-user': 'ada' },
    { authorization: 'Bearer x' },
  ]) {
    for (const path of EVERY_PATH) {
      const answer = await get(path, headers as Record<string, string>)
      t.equal(isError(answer, 401, ['UK.OBIE.Header.Invalid']), undefined, JSON.stringify(headers))
      t.match(answer.headers['www-authenticate'], /^Bearer/)
    }
  }
})

t.test("a merchant's settlement account is not a customer that can call", async (t) => {
  const merchant = await service.merchant()
  await settlementAccountOf(service.app, { merchantId: merchant.id, name: 'Acme', currency: 'GBP' })
  const headers = { 'x-customer-id': `merchant-${merchant.id}` }
  const { rows } = await service.owner.query('select id from customers where external_customer_id = $1', [
    headers['x-customer-id'],
  ])
  t.equal(rows.length, 1)
  for (const path of EVERY_PATH)
    t.equal(isError(await get(path, headers), 401, ['UK.OBIE.Header.Invalid']), undefined, path)
})

t.test('with a provider a token of the customers, with the scope, is the only proof', async (t) => {
  const { service: guarded, idp, operator } = await serviceWithRealms(t)
  const customer = await addCustomer(guarded)
  const merchant = await guarded.merchant()
  const bearer = (wish: Parameters<typeof idp.mint>[1], slug: string = CUSTOMERS_REALM): Record<string, string> => ({
    authorization: `Bearer ${idp.mint(slug, { clientId: 'customers-cli', subject: customer.externalId, ...wish })}`,
  })
  const scope = (text: string): Record<string, string> => bearer({ claims: { scope: text } })
  const paths = [
    '/accounts',
    `/accounts/${customer.account.id}/balances`,
    `/accounts/${customer.account.id}/transactions`,
  ]
  const past = Math.floor(Date.now() / 1000) - 3600
  for (const path of paths) {
    const ask = (headers: Record<string, string>): Promise<Answer> => get(path, headers, guarded)
    t.equal((await ask(scope('openid accounts'))).status, 200)
    t.equal((await ask({ ...scope('accounts'), 'x-customer-id': grace.externalId })).status, 200)
    const refusals: [what: string, status: number, headers: Record<string, string>][] = [
      ['no token', 401, {}],
      ['the header', 401, { ...customer.headers }],
      ['another scheme', 401, { authorization: 'Basic eDp5' }],
      ['no token at all', 401, { authorization: 'Bearer x.y.z' }],
      ['an expired token', 401, bearer({ claims: { scope: 'accounts', iat: past - 900, exp: past } })],
      ['another scope', 403, scope('openid payments')],
      ['no scope', 403, scope('openid')],
      ['a scope that only begins so', 403, scope('accounts.read accountsx')],
      [
        "a merchant's token",
        403,
        { authorization: `Bearer ${idp.mint(merchant.realm, { roles: ['ADMIN'], claims: { scope: 'accounts' } })}` },
      ],
      ["an operator's token", 403, operator({ roles: ['OWNER'], claims: { scope: 'accounts' } })],
      ['a client of another realm', 401, bearer({ clientId: merchant.clientId, claims: { scope: 'accounts' } })],
    ]
    for (const [what, status, headers] of refusals) {
      const answer = await ask(headers)
      const code = status === 401 ? 'UK.OBIE.Header.Invalid' : 'UK.OBIE.Reauthenticate'
      t.equal(isError(answer, status, [code]), undefined, `${what} ${path}`)
      const challenge = what.includes('scope') ? 'Bearer error="insufficient_scope", scope="accounts"' : undefined
      if (status === 403) t.equal(answer.headers['www-authenticate'], challenge, what)
      else t.match(answer.headers['www-authenticate'], /^Bearer/, what)
    }
  }
  const { body } = await get('/accounts', scope('openid'), guarded)
  t.match(body.Errors[0].Message, / send scope=accounts payments in the token request$/)
  // Of a credential its own row tells whose it is, and nothing else.
  const credential = bearer({ clientId: 'customers-key-abcd1234', claims: { scope: 'accounts' } })
  t.same((await get('/accounts', credential, guarded)).body.Data, [])
  const own = await addCustomer(guarded)
  await guarded.owner.query('insert into customer_clients (client_id, customer_id) values ($1, $2)', [
    'customers-key-abcd5678',
    own.id,
  ])
  const known = bearer({ clientId: 'customers-key-abcd5678', claims: { scope: 'accounts' } })
  t.match((await get('/accounts', known, guarded)).body.Data, [{ AccountId: own.account.id }])
  const stranger: TestCustomer['headers'] = bearer({ subject: randomUUID(), claims: { scope: 'accounts' } })
  t.same((await get('/accounts', stranger, guarded)).body.Data, [], 'whom the bank does not know has no accounts')
  t.equal(isError(await get(paths[1] ?? '', stranger, guarded), 404, ['UK.OBIE.Resource.NotFound']), undefined)
})
