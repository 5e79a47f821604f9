import t from 'tap'
import { makeApp } from '../../src/app.ts'
import { ensureDemoCustomer } from '../../src/sandbox/seed-customer.ts'
import type { DemoCustomer } from '../../src/sandbox/seed-customer.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { serviceToken, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { authorizationUrl, signIn } from '../support/identity.ts'
import { UserAgent } from '../support/user-agent.ts'

const EMBEDDED = { SVC_IDENTITY: 'embedded' }

async function rowsOf({ owner }: TestService, text: string): Promise<Record<string, unknown>[]> {
  return (await owner.query(text)).rows
}

/** The page that asks the customer whether a program may act for it. */
async function allowPage({ url }: TestService, demo: DemoCustomer, scope: string): Promise<string> {
  const wish = { authUrl: url, realm: 'customers', clientId: 'customers-cli', scope }
  const agent = new UserAgent(url)
  const login = await agent.open(authorizationUrl({ ...wish, redirectUri: 'http://127.0.0.1:9/callback' }).url)
  return (await agent.send(login, { email: demo.email, password: demo.password ?? '' })).text
}

t.test('without a provider the demo customer has two accounts and a month of history, made once', async (t) => {
  const service = await testService(t)
  const other = await makeApp(service.app.config)
  t.teardown(() => other.close())
  const all = await Promise.all([service.app, other, service.app].map((app) => ensureDemoCustomer(app)))
  const [demo] = all
  t.equal(new Set(all.map((each) => JSON.stringify(each))).size, 1)
  t.match(demo, { id: 'customer-demo', email: 'grace@demo.example', password: null, client_id: null, realm: null })
  const list = await service.call('GET', '/api/v1/sandbox/accounts?customer_id=customer-demo')
  t.match(list.body.data, [
    {
      account_id: demo?.account_id,
      balance: '1250.00',
      nickname: 'Everyday',
      currency: 'GBP',
      identifications: { length: 2 },
    },
    { currency: 'GBP', status: 'Enabled' },
  ])
  t.ok(list.body.data[0].transaction_count > 25)
  const began = performance.now()
  t.same(await ensureDemoCustomer(service.app), demo)
  t.comment(`a repeat takes ${Math.round(performance.now() - began)} ms`)
  t.same((await service.call('GET', '/api/v1/sandbox/accounts?customer_id=customer-demo')).body, list.body)
  t.match((await service.call('GET', '/api/v1/sandbox/books')).body, { is_balanced: true })
  const seen = await service.call('GET', '/open-banking/v1/accounts', { headers: { 'x-customer-id': 'customer-demo' } })
  t.match(seen.body, { Data: { length: 2 } })
  t.same(await rowsOf(service, `select count(*)::int from operator_actions where action = 'customer.seed'`), [
    { count: 1 },
  ])
  t.match(await rowsOf(service, 'select proxy from customer_proxies order by proxy'), [
    { proxy: '+447700900042' },
    { proxy: 'grace-demo' },
    { proxy: 'grace@demo.example' },
  ])
})

t.test('with a provider, a person and a program act as the customer, and repeating it keeps both', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  const { app, url } = service
  await ensurePlatform(app)
  const demo = await ensureDemoCustomer(app)
  t.match(demo, {
    id: 'customer-demo',
    password: /^[\w-]{20}$/,
    client_id: 'customers-key-demo0001',
    realm: 'customers',
  })
  const users = () => rowsOf(service, 'select id, subject, password_hash from idp.users')
  const before = await users()
  t.match(before, [{ subject: 'customer-demo', password_hash: /argon2/ }])
  t.same(await ensureDemoCustomer(app), demo)
  t.same(await users(), before, 'setting the password again would end every session')
  const client = { realm: 'customers', clientId: demo.client_id ?? '', secret: demo.client_secret ?? '' }
  await t.resolves(serviceToken(url, client))
  const { claims, tokens } = await signIn({
    authUrl: url,
    realm: 'customers',
    clientId: 'customers-cli',
    email: demo.email,
    password: demo.password ?? '',
    redirectUri: 'http://127.0.0.1:9/callback',
    scope: 'openid accounts',
  })
  t.equal(claims.sub, 'customer-demo')
  const page = await allowPage(service, demo, 'openid accounts payments')
  t.match(page, /grace@demo\.example<\/strong> at svc Bank, until you sign out/)
  t.match(page, /<li>see your accounts, balances and transactions<\/li>\s*<li>make payments from your accounts/)
  const narrow = await allowPage(service, demo, 'openid accounts')
  t.match(narrow, /<li>see your accounts/)
  t.notMatch(narrow, /make payments/, 'no more than the requested scope')
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  t.match(await service.call('GET', '/open-banking/v1/accounts', { headers }), {
    status: 200,
    body: { Data: [{ AccountId: demo.account_id }, {}] },
  })
})

t.test('the demo logins are restored to the printed ones after any change', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  await ensurePlatform(service.app)
  const demo = await ensureDemoCustomer(service.app)
  await service.app.identity.deleteClient('customers', 'customers-key-demo0001')
  await service.owner.query('delete from idp.users')
  await service.owner.query('delete from customer_clients')
  t.same(await ensureDemoCustomer(service.app), demo)
  t.match(await rowsOf(service, 'select subject, password_hash from idp.users'), [{ password_hash: String }])
  t.match(await rowsOf(service, 'select client_id from customer_clients'), [{ client_id: demo.client_id }])
})

t.test('live mode has no demo customer', async (t) => {
  const service = await testService(t)
  const { app } = service
  await t.rejects(ensureDemoCustomer({ ...app, config: { ...app.config, mode: 'live' } }), /sandbox alone/)
  t.same(await rowsOf(service, 'select id from customers'), [])
})
