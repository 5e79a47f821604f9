import { isValidIBAN } from 'ibantools'
import t from 'tap'
import { createSandboxCustomer } from '../../src/sandbox/create-sandbox-customer.ts'
import { NewCustomer } from '../../src/wire/sandbox-bank.ts'
import { testService } from '../support/app.ts'
import type { Answer, TestService } from '../support/app.ts'
import { ask } from '../support/identity.ts'
import { breakTable } from '../support/registrations.ts'

const service = await testService(t)

function make(body: unknown, { call }: TestService = service): Promise<Answer> {
  return call('POST', '/api/v1/sandbox/customers', { headers: { 'x-platform-user': 'olga' }, body })
}

function set(id: string, body: unknown): Promise<Answer> {
  return service.call('PUT', `/api/v1/sandbox/accounts/${id}`, { headers: { 'x-platform-user': 'olga' }, body })
}

/** How many rows a customer leaves, in each table that has some. */
async function counts(): Promise<unknown> {
  const { rows } = await service.owner.query(`
    select (select count(*) from customers) as customers, (select count(*) from customer_proxies) as proxies,
      (select count(*) from accounts) as accounts, (select count(*) from operator_actions) as actions
  `)
  return rows
}

t.test('by default a customer has a thousand pounds and an e-mail address', async (t) => {
  const { status, body } = await make({})
  t.match(
    { status, body },
    {
      status: 201,
      body: {
        customer_id: /^customer-[0-9a-f]{12}$/,
        name: 'Sandbox Customer',
        email: `${body.customer_id}@example.org`,
        mobile: null,
        proxy_id: null,
        client_id: null,
        client_secret: null,
        issuer: null,
        accounts: [
          { currency: 'GBP', balance: '1000.00', overdraft_limit: '0.00', status: 'Enabled', transaction_count: 1 },
        ],
      },
    },
  )
  const [number, iban] = body.accounts[0].identifications
  t.match(number, { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: /^000075\d{8}$/ })
  t.equal(iban.SchemeName, 'UK.OBIE.IBAN')
  t.ok(isValidIBAN(iban.Identification) && iban.Identification.endsWith(number.Identification))
  const seen = await service.call('GET', '/open-banking/v1/accounts', {
    headers: { 'x-customer-id': body.customer_id },
  })
  t.match(seen, { status: 200, body: { Data: [{ AccountId: body.accounts[0].account_id }] } })
})

t.test('everything requested is created, in normalised form, and recorded in the audit trail', async (t) => {
  const { status, body } = await make({
    name: 'Ada Everything',
    email: 'Ada.Everything@Example.org',
    mobile: '+447700900999',
    proxy_id: 'ada-all',
    accounts: [
      { currency: 'EUR', balance: '12.5', nickname: 'Holidays' },
      { balance: '0', overdraft_limit: '250', account_type: 'Business' },
      { balance: '5.00', status: 'Closed', account_sub_type: 'Savings' },
      { status: 'Blocked' },
    ],
  })
  t.match(
    { status, body },
    {
      status: 201,
      body: {
        email: 'ada.everything@example.org',
        mobile: '+447700900999',
        proxy_id: 'ada-all',
        accounts: [
          { currency: 'EUR', balance: '12.50', nickname: 'Holidays' },
          { balance: '0.00', overdraft_limit: '250.00', transaction_count: 0 },
          { balance: '5.00', status: 'Closed' },
          { balance: '1000.00', status: 'Blocked' },
        ],
      },
    },
  )
  const { rows } = await service.owner.query(
    `select actor_name, merchant_id, after from operator_actions where action = 'sandbox.create_customer' order by ordinal desc limit 1`,
  )
  t.match(rows, [{ actor_name: 'olga', merchant_id: null, after: { customer_id: body.customer_id, accounts: 4 } }])
})

t.test('a taken proxy is rejected by its name, and nothing of the customer is created', async (t) => {
  await make({ email: 'taken@example.org', mobile: '+447700900111', proxy_id: 'taken' })
  const before = await counts()
  for (const [field, value] of [
    ['email', 'TAKEN@example.org'],
    ['mobile', '+447700900111'],
    ['proxy_id', 'taken'],
  ] as const) {
    const refused = await make({ [field]: value })
    t.match(refused, { status: 409, body: { code: 'PROXY_TAKEN', error: new RegExp(`^${field}: `) } }, field)
  }
  t.same(await counts(), before)
  const racers = await Promise.all(
    Array.from({ length: 4 }, () => make({ email: 'race@example.org', proxy_id: 'race' })),
  )
  t.same(racers.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
})

t.test('an unknown customer is rejected with its field', async (t) => {
  for (const [path, body] of Object.entries({
    email: { email: 'nobody' },
    mobile: { mobile: '07700 900123' },
    proxy_id: { proxy_id: 'a b' },
    name: { name: '' },
    accounts: { accounts: [] },
    'accounts[0].balance': { accounts: [{ balance: 10 }] },
    'accounts[0].overdraft_limit': { accounts: [{ overdraft_limit: '-1' }] },
    'accounts[0].currency': { accounts: [{ currency: 'USD' }] },
    sort_code: { sort_code: '000075' },
  })) {
    const refused = await make(body)
    t.equal(refused.status, 400, path)
    t.equal(refused.body.errors[0].path.replaceAll(/\.(\d+)/g, '[$1]'), path)
  }
})

t.test('accounts are listed by customer and by merchant, page by page', async (t) => {
  const { body: ada } = await make({ accounts: [{}, { currency: 'EUR' }, {}] })
  const list = (query: string): Promise<Answer> => service.call('GET', `/api/v1/sandbox/accounts?${query}`)
  const mine = await list(`customer_id=${ada.customer_id}`)
  t.same(mine.body, { data: ada.accounts, has_more: false, next_cursor: null })
  const first = await list(`customer_id=${ada.customer_id}&limit=2`)
  t.match(first.body, { data: { length: 2 }, has_more: true })
  const second = await list(`customer_id=${ada.customer_id}&limit=2&cursor=${first.body.next_cursor}`)
  t.same([...first.body.data, ...second.body.data], ada.accounts)
  t.ok((await list('limit=100')).body.data.length > 3)

  const merchant = await service.merchant()
  const { body: shop } = await make({})
  await service.owner.query('update customers set merchant_id = $1 where external_customer_id = $2', [
    merchant.id,
    shop.customer_id,
  ])
  t.same((await list(`merchant_id=${merchant.id}`)).body.data, shop.accounts)
  for (const nobody of [
    'customer_id=nobody',
    'merchant_id=nobody',
    `customer_id=${ada.customer_id}&merchant_id=${merchant.id}`,
  ])
    t.same((await list(nobody)).body.data, [], nobody)
  for (const [query, path] of [
    ['cursor=x', 'cursor'],
    ['limit=0', 'limit'],
    ['customer_id=a%00b', 'customer_id'],
    ['customer=1', 'customer'],
  ] as const)
    t.match(await list(query), { status: 400, body: { errors: [{ path }] } }, query)
})

t.test('an account is blocked, closed, opened again and overdrawn further, each in the audit trail', async (t) => {
  const { body } = await make({ accounts: [{ balance: '10.00', overdraft_limit: '50.00' }] })
  const [account] = body.accounts
  for (const status of ['Blocked', 'Closed', 'Enabled'])
    t.match(await set(account.account_id, { status }), { status: 200, body: { ...account, status } })
  t.match(await set(account.account_id, { overdraft_limit: '0' }), { status: 200, body: { overdraft_limit: '0.00' } })
  const { rows } = await service.owner.query(
    `select before, after, actor_name from operator_actions where action = 'sandbox.set_account' and subject_id = $1 order by ordinal`,
    [account.account_id],
  )
  t.equal(rows.length, 4)
  t.match(rows[3], {
    before: { status: 'Enabled', overdraft_limit: '50.00' },
    after: { status: 'Enabled', overdraft_limit: '0.00' },
    actor_name: 'olga',
  })
})

t.test('a limit below the used overdraft is rejected, and so is an unknown account', async (t) => {
  const { body } = await make({ accounts: [{ balance: '0', overdraft_limit: '50.00' }] })
  const { account_id: id } = body.accounts[0]
  await service.owner.query(`select book_transfer(gen_random_uuid(), $1, null, 3000, 'GBP', 'Ada', 'Shop', 'shoes')`, [
    id,
  ])
  t.match(await set(id, { overdraft_limit: '29.99' }), {
    status: 409,
    body: { code: 'OVERDRAFT_IN_USE', error: /overdrawn by 30\.00/, next: /30\.00 or more/ },
  })
  t.match(await set(id, { overdraft_limit: '30.00', status: 'Blocked' }), { status: 200, body: { balance: '-30.00' } })
  for (const nobody of ['nobody', '00000000-0000-0000-0000-000000000000'])
    t.match(await set(nobody, { status: 'Closed' }), { status: 404, body: { code: 'ACCOUNT_NOT_FOUND' } })
  t.match(await set(id, { status: 'Open' }), { status: 400, body: { errors: [{ path: 'status' }] } })
  t.match(await set(id, { balance: '5.00' }), { status: 400, body: { errors: [{ path: 'balance' }] } })
})

t.test('the books are balanced, and rows written past them are found', async (t) => {
  const fresh = await testService(t)
  const books = async () => (await fresh.call('GET', '/api/v1/sandbox/books')).body
  t.match(await books(), { is_balanced: true, totals: [] })
  const { body } = await make({ accounts: [{}, { currency: 'EUR', balance: '7.00' }] }, fresh)
  const [{ account_id: id }] = body.accounts
  await fresh.owner.query(`select book_transfer(gen_random_uuid(), $1, null, 4000, 'GBP', 'Ada', 'Shop', 'shoes')`, [
    id,
  ])
  const eur = { currency: 'EUR', balance: '7.00', came_in: '7.00', went_out: '0.00', difference: '0.00' }
  const gbp = { currency: 'GBP', accounts: 1, transfers: 2, balance: '960.00', came_in: '1000.00', went_out: '40.00' }
  t.match(await books(), { is_balanced: true, totals: [eur, { ...gbp, difference: '0.00', wrong_accounts: 0 }] })
  await fresh.owner.query('update accounts set balance_minor = balance_minor + 1 where id = $1', [id])
  const wrong = { balance: '960.01', difference: '0.01', wrong_accounts: 1 }
  t.match(await books(), { is_balanced: false, totals: [{ ...eur, wrong_accounts: 0 }, wrong] })
  await fresh.owner.query(
    'update accounts set balance_minor = balance_minor - 1, transaction_count = 3 where id = $1',
    [id],
  )
  t.match(await books(), { is_balanced: false, totals: [eur, { difference: '0.00', wrong_accounts: 1 }] })
})

t.test('with an identity provider a program acts as the customer, with the scopes that it asks for', async (t) => {
  const real = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const headers = await real.operator('OPS')
  const { status, body } = await real.call('POST', '/api/v1/sandbox/customers', { headers, body: {} })
  t.match(
    { status, body },
    { status: 201, body: { client_id: /^customers-key-[a-z0-9]{8}$/, issuer: `${real.url}/realms/customers` } },
  )
  const form = { grant_type: 'client_credentials', client_id: body.client_id, client_secret: body.client_secret }
  async function accounts(scope?: string): Promise<Answer> {
    const asked = await ask(real.url, 'customers', 'token', { ...form, ...(scope === undefined ? {} : { scope }) })
    const authorization = `Bearer ${asked.body.access_token}`
    return real.call('GET', '/open-banking/v1/accounts', { headers: { authorization } })
  }
  const [{ account_id: AccountId }] = body.accounts
  t.match(await accounts('accounts payments'), { status: 200, body: { Data: [{ AccountId }] } })
  t.match(await accounts('payments'), { status: 403 })
  t.match(await accounts(), { status: 403 })
  const { body: other } = await real.call('POST', '/api/v1/sandbox/customers', { headers, body: {} })
  t.notOk((await accounts('accounts')).text.includes(other.accounts[0].account_id))
  const support = await real.operator('SUPPORT')
  t.match(await real.call('POST', '/api/v1/sandbox/customers', { headers: support, body: {} }), { status: 403 })

  const clients = async () => (await real.owner.query('select client_id from idp.clients order by 1')).rows
  const before = await clients()
  const taken = await real.call('POST', '/api/v1/sandbox/customers', { headers, body: { email: other.email } })
  t.match(taken, { status: 409, body: { code: 'PROXY_TAKEN' } })
  await breakTable(real.owner, { table: 'operator_actions', on: 'insert' })
  const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }
  await t.rejects(createSandboxCustomer(real.app, { ...NewCustomer.parse({}), actor }))
  t.same(await clients(), before, 'the client of a customer that could not be created is deleted')
})
