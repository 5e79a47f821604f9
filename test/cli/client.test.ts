import t from 'tap'
import { headerCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient, call } from '../../cli/client/call.ts'
import type { Client } from '../../cli/client/call.ts'
import { CliError } from '../../cli/base/errors.ts'
import { completeSca, createPayment, getPayment, listPayments } from '../../src/wire/payments.ts'
import { registerMerchant } from '../../src/wire/registration.ts'
import { inviteTeamMember } from '../../src/wire/team.ts'
import { PAYMENT_ID, createdOf, fakeService, paymentOf, refusal, runCli, summaryOf } from './harness.ts'
import type { Test } from 'tap'

function clientOf(
  t: Test,
  apiUrl: string,
  more: { clientId?: string | undefined; timeoutMs?: number } = { clientId: 'demo-server' },
): Client {
  const credentials = headerCredentials({ clientId: more.clientId, platformUser: undefined })
  const client = makeClient({ apiUrl, credentials, timeoutMs: more.timeoutMs ?? 5_000 })
  t.teardown(() => client.close())
  return client
}

const CREATE = { amount: '50.00', currency: 'GBP', redirect_uri: 'http://127.0.0.1/back' }

async function errorOf(promise: Promise<unknown>): Promise<CliError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error('it did not fail')
}

t.test('a request carries the merchant, its headers and its query, and nothing that is undefined', async (t) => {
  const { url, requests } = await fakeService(t, () => ({
    json: { data: [summaryOf('Settled')], has_more: false, next_cursor: null },
  }))
  const { status, body } = await call(clientOf(t, url), listPayments, {
    query: { limit: 3, status: 'Settled', cursor: undefined },
  })
  t.equal(status, 200)
  t.equal(body.data[0]?.payment_id, PAYMENT_ID)
  t.match(requests, [
    {
      method: 'GET',
      path: '/api/v1/payments?limit=3&status=Settled',
      headers: { 'x-merchant-client-id': 'demo-server' },
    },
  ])
})

t.test('a parameter is escaped, and one that would leave the path is refused', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: paymentOf('Settled') }))
  await call(clientOf(t, url), getPayment, { params: { id: 'a/b?c' } })
  t.equal(requests[0]?.path, '/api/v1/payments/a%2Fb%3Fc')
  for (const id of ['..', '.', ''])
    t.match(await errorOf(call(clientOf(t, url), getPayment, { params: { id } })), { options: { exit: 2 } })
})

t.test('a creation with an idempotency key is repeated once when the connection is cut', async (t) => {
  const { url, requests } = await fakeService(t, (_request, count) => (count === 1 ? 'cut' : createdOf()))
  const { status } = await call(clientOf(t, url), createPayment, {
    headers: { 'x-idempotency-key': 'order-1' },
    body: CREATE,
  })
  t.equal(status, 201)
  t.equal(requests.length, 2)
  t.equal(requests[1]?.body, requests[0]?.body)
  t.equal(requests[1]?.headers['x-idempotency-key'], 'order-1')
})

t.test('a creation without a key is never repeated', async (t) => {
  const { url, requests } = await fakeService(t, () => 'cut')
  t.match(await errorOf(call(clientOf(t, url), createPayment, { body: CREATE })), {
    code: 'SERVICE_UNREACHABLE',
    options: { exit: 8, retryable: true },
  })
  t.equal(requests.length, 1)
})

t.test('a refusal is not repeated', async (t) => {
  const { url, requests } = await fakeService(t, () => refusal(503, 'SERVICE_UNAVAILABLE'))
  t.match(await errorOf(call(clientOf(t, url), listPayments, {})), {
    code: 'SERVICE_UNAVAILABLE',
    options: { exit: 1, retryable: true },
  })
  t.equal(requests.length, 1)
})

t.test('each kind of refusal has its exit code, and keeps code, request id and next step', async (t) => {
  const exits = { 400: 2, 401: 4, 403: 5, 404: 6, 409: 7, 412: 7, 415: 2, 422: 2, 429: 8, 500: 1, 502: 1 }
  for (const [status, exit] of Object.entries(exits)) {
    const { url } = await fakeService(t, () => refusal(Number(status), 'SOME_CODE', { next: 'do this' }))
    const error = await errorOf(call(clientOf(t, url), getPayment, { params: { id: PAYMENT_ID } }))
    t.match(
      error,
      {
        code: 'SOME_CODE',
        options: { exit, status: Number(status), requestId: 'req-1', hint: 'do this', docUrl: /some-code$/ },
      },
      status,
    )
  }
})

t.test("a refusal's next step is a command, with what is known of the merchant and the request", async (t) => {
  const hintOf = async (code: string, ask: (client: Client) => Promise<unknown>): Promise<string | undefined> => {
    const { url } = await fakeService(t, () => refusal(409, code, { next: 'send a header over HTTP' }))
    return (await errorOf(ask(clientOf(t, url)))).options.hint
  }
  const create = (client: Client) => call(client, createPayment, { body: CREATE })
  const invite = (client: Client) =>
    call(client, inviteTeamMember, { body: { email: 'ada@acme.example', role: 'FINANCE' } })
  const company = { company_name: 'Acme Ltd', trading_name: 'Acme', admin_email: 'ada@acme.example' }
  t.match(await hintOf('MERCHANT_NOT_APPROVED', create), /svc kyb approve demo-server --reason/)
  t.match(await hintOf('PAYOUT_HELD', create), /svc hold release demo-server --reason/)
  t.match(await hintOf('MERCHANT_INACTIVE', create), /svc merchants enable demo-server --reason/)
  t.match(await hintOf('IDEMPOTENCY_KEY_REUSED', create), '--idempotency-key')
  t.match(await hintOf('USER_EXISTS', invite), /^svc team role ada@acme\.example FINANCE$/)
  t.match(await hintOf('FORBIDDEN_ROLE', invite), /svc whoami\nas an ADMIN: svc team role <your-email> <a-role>$/)
  t.match(
    await hintOf('REALM_EXISTS', (client) => call(client, registerMerchant, { body: company })),
    /svc login --realm <realm>$/,
  )
  t.equal(await hintOf('REFUND_REFUSED', create), 'send a header over HTTP', 'the rest keeps its own')
})

t.test("a merchant's operation without a client id is not sent, with exit code 4", async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: {} }))
  t.match(await errorOf(call(clientOf(t, url, {}), listPayments, {})), { code: 'NOT_SIGNED_IN', options: { exit: 4 } })
  t.same(
    requests.map(({ path }) => path),
    ['/api/v1/service'],
  )
})

t.test("the payer's operation needs no client id", async (t) => {
  const done = { payment_id: PAYMENT_ID, status: 'Authorised', end_to_end_id: 'SVC1', failure: null }
  const { url } = await fakeService(t, () => ({ json: done }))
  const { body } = await call(clientOf(t, url, {}), completeSca, {
    params: { id: PAYMENT_ID },
    body: { state: 's', code: 'c' },
  })
  t.equal(body.status, 'Authorised')
})

t.test('a reply off its schema is a failure, not half a result', async (t) => {
  const { url } = await fakeService(t, () => ({ json: { data: [{ payment_id: 1 }] } }))
  t.match(await errorOf(call(clientOf(t, url), listPayments, {})), { code: 'UNEXPECTED_REPLY', options: { exit: 1 } })
})

t.test('another program at the address is recognised as such, and its redirect is not followed', async (t) => {
  const page = await fakeService(t, () => ({ status: 404, text: '<html>nginx</html>' }))
  t.match(await errorOf(call(clientOf(t, page.url), listPayments, {})), {
    code: 'NOT_THE_SERVICE',
    options: { exit: 6 },
  })
  const moved = await fakeService(t, () => ({ status: 302, headers: { location: '/elsewhere' } }))
  t.match(await errorOf(call(clientOf(t, moved.url), listPayments, {})), {
    code: 'NOT_THE_SERVICE',
    options: { exit: 1 },
  })
  t.equal(moved.requests.length, 1)
})

t.test('a service that never answers is given up after the timeout', async (t) => {
  const { url, requests } = await fakeService(t, () => 'silence')
  const client = clientOf(t, url, { clientId: 'demo-server', timeoutMs: 3_000 })
  t.match(await errorOf(call(client, listPayments, {})), {
    code: 'REQUEST_TIMED_OUT',
    options: { exit: 8, retryable: true },
  })
  t.equal(requests.length, 1)
})

t.test('a port on which nothing listens is exit code 8', async (t) => {
  t.match(await errorOf(call(clientOf(t, 'http://127.0.0.1:1'), listPayments, {})), {
    code: 'SERVICE_UNREACHABLE',
    message: /nothing listens/,
    options: { exit: 8 },
  })
})

t.test('a reply with members that this version does not know is taken as it is', async (t) => {
  const newer = { ...paymentOf('Settled'), settled_by: 'a newer service', status_history: [] }
  const { url } = await fakeService(t, () => ({ json: newer }))
  const { body } = await call(clientOf(t, url), getPayment, { params: { id: PAYMENT_ID } })
  t.equal(body.payment_id, PAYMENT_ID)
})

t.test('where nothing answers, that is reported, and no identity and no login', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: {} }))
  t.match(await runCli(['webhooks', 'show', PAYMENT_ID, '--api-url', url]), { code: 4, stderr: /not signed in/ })
  t.same(
    requests.map(({ path }) => path),
    ['/api/v1/service'],
  )
  for (const words of [
    ['payments', 'list'],
    ['merchants', 'list'],
    ['ob', 'accounts'],
  ])
    t.match(
      await runCli([...words, '--api-url', 'http://127.0.0.1:1']),
      { code: 8, stderr: /can't be reached/ },
      words.join(' '),
    )
})
