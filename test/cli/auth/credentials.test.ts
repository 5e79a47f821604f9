import t from 'tap'
import type { Test } from 'tap'
import { headerCredentials, serviceCredentials } from '../../../cli/client/auth/credentials.ts'
import type { Credentials } from '../../../cli/client/auth/credentials.ts'
import { call, makeClient } from '../../../cli/client/call.ts'
import type { Client } from '../../../cli/client/call.ts'
import { listMerchants } from '../../../src/wire/admin.ts'
import { createPayment, listPayments } from '../../../src/wire/payments.ts'
import { getService, whoami } from '../../../src/wire/service.ts'
import { refusal } from '../harness.ts'
import { fakeIdentity } from './fake-identity.ts'

const MERCHANT = { realm: 'acme-ltd', clientId: 'acme-ltd-server', clientSecret: 'right-secret' }
const OPERATOR = { realm: 'platform', clientId: 'platform-key-aaaabbbb', clientSecret: 'right-secret' }
const CREATE = { amount: '50.00', currency: 'GBP', redirect_uri: 'http://127.0.0.1/back' }

function clientOf(t: Test, apiUrl: string, credentials: Credentials): Client {
  const client = makeClient({ apiUrl, credentials, timeoutMs: 5_000 })
  t.teardown(() => client.close())
  return client
}

t.test('without a provider each kind of operation is sent its own name, and an open one none', async (t) => {
  const { url, requests } = await fakeIdentity(t, { authUrl: null })
  const client = clientOf(t, url, headerCredentials({ clientId: 'acme-ltd-server', platformUser: 'ada' }))
  await call(client, listPayments, {})
  await call(client, listMerchants, {})
  await call(client, getService, {})
  const names = requests.map(({ headers }) => [headers['x-merchant-client-id'], headers['x-platform-user']])
  t.same(names, [
    ['acme-ltd-server', undefined],
    [undefined, 'ada'],
    [undefined, undefined],
  ])
})

t.test('clients are proven by a token each, asked for once, and open operations are sent none', async (t) => {
  const fake = await fakeIdentity(t)
  const credentials = serviceCredentials({ authUrl: fake.url, merchant: MERCHANT, platform: OPERATOR })
  const client = clientOf(t, fake.url, credentials)
  await Promise.all([1, 2, 3].map(() => call(client, listPayments, {})))
  await call(client, listMerchants, {})
  await call(client, getService, {})
  t.same(
    fake.asked().map((form) => [form.get('grant_type'), form.get('client_id')]),
    [
      ['client_credentials', 'acme-ltd-server'],
      ['client_credentials', 'platform-key-aaaabbbb'],
    ],
  )
  t.equal(new Set(fake.bearers()).size, 2)
  t.equal(fake.requests.at(-1)?.headers.authorization, undefined)
  t.same(credentials.merchant, { clientId: 'acme-ltd-server', realm: 'acme-ltd' })
})

t.test('a token is renewed shortly before it expires', async (t) => {
  const fake = await fakeIdentity(t, { seconds: 20 })
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
  await call(client, listPayments, {})
  await call(client, listPayments, {})
  t.equal(fake.asked().length, 2)
  t.equal(new Set(fake.bearers()).size, 2)
})

t.test('a token that the service calls expired is renewed once, also for a creation without a key', async (t) => {
  const fake = await fakeIdentity(t)
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
  await call(client, listPayments, {})
  fake.expired.add(fake.bearers()[0] ?? '')
  await t.rejects(call(client, createPayment, { body: CREATE }), { code: 'UNEXPECTED_REPLY' })
  t.equal(fake.asked().length, 2)
  t.equal(fake.bearers().length, 3)
  t.not(fake.bearers()[2], fake.bearers()[1])
})

t.test('a service that calls every token expired is asked twice and no more', async (t) => {
  const answer = ({ path }: { path: string }) =>
    path.startsWith('/api/v1/payments') ? refusal(401, 'TOKEN_EXPIRED') : undefined
  const fake = await fakeIdentity(t, { answer })
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
  await t.rejects(call(client, listPayments, {}), { code: 'TOKEN_EXPIRED', options: { exit: 4 } })
  t.equal(fake.bearers().length, 2)
})

t.test('a token that is not taken is renewed once, and a refusal for another reason renews nothing', async (t) => {
  const cases = [
    { status: 401, code: 'UNAUTHENTICATED', exit: 4, asked: 2 },
    { status: 401, code: 'UNKNOWN_CLIENT', exit: 4, asked: 1 },
    { status: 403, code: 'FORBIDDEN_ROLE', exit: 5, asked: 1 },
  ]
  for (const { status, code, exit, asked } of cases) {
    const answer = ({ path }: { path: string }) =>
      path.startsWith('/api/v1/payments') ? refusal(status, code) : undefined
    const fake = await fakeIdentity(t, { answer })
    const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
    await t.rejects(call(client, listPayments, {}), { code, options: { exit } }, code)
    t.equal(fake.asked().length, asked, code)
  }
})

t.test('a wrong secret is exit code 4 and is not repeated in the error', async (t) => {
  const fake = await fakeIdentity(t)
  const wrong = { ...MERCHANT, clientSecret: 'a-wrong-secret' }
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: wrong }))
  const error: unknown = await call(client, listPayments, {}).catch((reason: unknown) => reason)
  t.match(error, { code: 'INVALID_CLIENT', options: { exit: 4, status: 401 } })
  t.notMatch(JSON.stringify(error) + String(error), /a-wrong-secret/)
  t.equal(fake.bearers().length, 0)
})

t.test('a provider that is not there is exit code 8, and one that answers nonsense is reported as that', async (t) => {
  const gone = clientOf(
    t,
    'http://127.0.0.1:1',
    serviceCredentials({ authUrl: 'http://127.0.0.1:1', merchant: MERCHANT }),
  )
  await t.rejects(call(gone, listPayments, {}), { code: 'SERVICE_UNREACHABLE', options: { exit: 8, retryable: true } })
  const cases = [
    { answer: { status: 503, text: '<html>' }, code: 'IDP_UNAVAILABLE', exit: 8 },
    { answer: { status: 500, text: '<html>' }, code: 'IDP_UNAVAILABLE', exit: 1 },
    { answer: { status: 404, json: {} }, code: 'IDP_UNAVAILABLE', exit: 1 },
    { answer: { status: 404, json: { error: 'Realm does not exist' } }, code: 'UNKNOWN_REALM', exit: 6 },
    { answer: { status: 200, json: { access_token: 1 } }, code: 'UNEXPECTED_REPLY', exit: 1 },
    { answer: { status: 429, json: { error: 'slow_down' } }, code: 'SLOW_DOWN', exit: 8 },
  ]
  for (const { answer, code, exit } of cases) {
    const fake = await fakeIdentity(t, { answer: ({ path }) => (path.startsWith('/realms/') ? answer : undefined) })
    const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
    await t.rejects(call(client, listPayments, {}), { code, options: { exit } }, code)
  }
})

t.test('a failed request for a token is not remembered', async (t) => {
  let isDown = true
  const fake = await fakeIdentity(t, {
    answer: ({ path }) => (isDown && path.startsWith('/realms/') ? { status: 503 } : undefined),
  })
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
  await t.rejects(call(client, listPayments, {}), { code: 'IDP_UNAVAILABLE' })
  isDown = false
  t.equal((await call(client, listPayments, {})).status, 200)
})

t.test("an operator's operation without an operator fails before any request, with exit code 4", async (t) => {
  const fake = await fakeIdentity(t)
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
  await t.rejects(call(client, listMerchants, {}), {
    code: 'NOT_SIGNED_IN',
    options: { exit: 4, hint: 'svc login --platform' },
  })
  t.same(
    fake.requests.map(({ path, headers }) => [path, headers.authorization]),
    [['/api/v1/service', undefined]],
    'but for a look whether the service is there',
  )
})

t.test('the same operator acts for another merchant, with a token of that merchant', async (t) => {
  const fake = await fakeIdentity(t)
  const base = serviceCredentials({ authUrl: fake.url, platform: OPERATOR })
  const other = base.asMerchant(MERCHANT)
  await call(clientOf(t, fake.url, other), whoami, {})
  await call(clientOf(t, fake.url, other), listMerchants, {})
  t.same(
    fake.asked().map((form) => form.get('client_id')),
    ['acme-ltd-server', 'platform-key-aaaabbbb'],
  )
  const named = headerCredentials({ clientId: undefined, platformUser: 'ada' }).asMerchant(MERCHANT)
  t.same(named.merchant, { clientId: 'acme-ltd-server', realm: undefined })
})

t.test('a client that is stopped waits for no token', async (t) => {
  const fake = await fakeIdentity(t, { answer: ({ path }) => (path.startsWith('/realms/') ? 'silence' : undefined) })
  const client = clientOf(t, fake.url, serviceCredentials({ authUrl: fake.url, merchant: MERCHANT }))
  const stop = new AbortController()
  const calling = call({ ...client, signal: stop.signal }, listPayments, {})
  stop.abort('SIGINT')
  await t.rejects(calling, { code: 'REQUEST_STOPPED', options: { exit: 130 } })
})
