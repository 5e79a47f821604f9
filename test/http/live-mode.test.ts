import t from 'tap'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { freePort } from '../../src/db/free-port.ts'
import { request } from 'undici'
import { paymentBody, testService } from '../support/app.ts'

// Without an identity provider no configuration is live, so the one of the sandbox is turned by hand.
const sandbox = await testService(t)
const app = await makeApp({ ...sandbox.app.config, mode: 'live', port: await freePort() })
const api = await startApi(app)
t.teardown(async () => {
  await api.stop()
  await app.close()
})

async function call(method: 'GET' | 'POST', path: string, body?: unknown) {
  const merchant = await sandbox.merchant()
  const answer = await request(api.url + path, {
    method,
    headers: {
      'x-merchant-client-id': merchant.clientId,
      'x-idempotency-key': 'k',
      'content-type': 'application/json',
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await answer.body.text()
  return { status: answer.statusCode, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
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
  ['POST', '/api/v1/sandbox/clock/advance'],
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
