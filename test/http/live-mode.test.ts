import t from 'tap'
import { freePort } from '../../src/db/free-port.ts'
import { paymentBody, serviceToken, testService } from '../support/app.ts'

const port = await freePort()
const live = await testService(t, {
  env: {
    SVC_MODE: 'live',
    SVC_IDENTITY: 'embedded',
    SVC_PUBLIC_URL: 'https://pay.example',
    SVC_SMTP_URL: 'smtp://127.0.0.1:9',
    SVC_PORT: String(port),
    SVC_RATE_LIMITS: 'false',
    SVC_TRUST_PROXY: 'true',
  },
})
const sandbox = await testService(t)

/** The token endpoint is not at the public address in a test: a proxy with TLS would stand there. */
const merchant = await live.merchant()
const token = await serviceToken(live.url, {
  realm: merchant.realm,
  clientId: merchant.clientId,
  secret: merchant.clientSecret,
})

function call(method: 'GET' | 'POST', path: string, body?: unknown) {
  return live.call(method, path, { headers: { authorization: `Bearer ${token}`, 'x-idempotency-key': 'k' }, body })
}

const SANDBOX_ONLY: ['GET' | 'POST', string][] = [
  ['GET', '/redirect-stub'],
  ['POST', '/redirect-stub'],
  ['GET', '/dev/merchant-harness'],
  ['POST', '/dev/merchant-harness'],
  ['GET', '/dev/mock-bank-sca'],
  ['GET', '/dev/merchant-success'],
  ['POST', '/dev/webhook-receiver/00000000-0000-0000-0000-000000000000'],
  ['GET', '/widget-demo.html'],
  ['POST', '/api/v1/sandbox/seed'],
  ['POST', '/api/v1/sandbox/merchants'],
  ['POST', '/api/v1/sandbox/customers'],
  ['GET', '/api/v1/sandbox/accounts'],
  ['GET', '/api/v1/sandbox/books'],
  ['POST', '/api/v1/sandbox/clock/advance'],
  ['GET', '/api/v1/sandbox/mails'],
]

t.test("in live mode the sandbox's routes do not exist", async (t) => {
  for (const [method, path] of SANDBOX_ONLY) {
    const answer = await call(method, path, method === 'POST' ? {} : undefined)
    t.equal(answer.status, 404, path)
    t.same(answer.body, { message: `Route ${method}:${path} not found` }, path)
  }
})

t.test('in the sandbox the pages of the bank and the shop do', async (t) => {
  t.match(await sandbox.call('GET', '/dev/merchant-harness'), { status: 200 })
  t.match(await sandbox.call('GET', '/redirect-stub'), { status: 400 })
})

t.test('in live mode the return page and the API stay', async (t) => {
  t.match(await call('GET', '/payments/return'), { status: 404, text: /^<!doctype html>/ })
  t.match(await call('GET', '/api/v1/payments'), { status: 200 })
  t.match(await call('GET', '/openapi.json'), { status: 200 })
})

t.test('in live mode nothing is played: no scenario, no plain http, no address of this machine', async (t) => {
  for (const changes of [
    { scenario: 'success' },
    { redirect_uri: 'http://localhost:3000/' },
    { redirect_uri: 'https://localhost/' },
    { redirect_uri: 'https://127.0.0.1/' },
  ]) {
    t.match(await call('POST', '/api/v1/payments', paymentBody(changes)), {
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ path: Object.keys(changes)[0] }] },
    })
  }
})

t.test('in live mode a header proves nobody', async (t) => {
  const headers = { 'x-merchant-client-id': merchant.clientId, 'x-platform-user': 'ada' }
  t.match(await live.call('GET', '/api/v1/payments', { headers }), { status: 401, body: { code: 'UNAUTHENTICATED' } })
  t.match(await live.call('GET', '/api/v1/admin/merchants', { headers }), { status: 401 })
})
