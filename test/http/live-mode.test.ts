import t from 'tap'
import { encodeCheckoutToken, signCheckoutToken } from '../../src/lib/checkout-token.ts'
import { paymentBody, serviceToken, testService } from '../support/app.ts'
import { liveService } from '../support/live.ts'

const live = await liveService(t)
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
  ['POST', '/dev/mock-bank-sca'],
  ['GET', '/dev/merchant-success'],
  ['POST', '/dev/merchant-success'],
  ['POST', '/dev/webhook-receiver/00000000-0000-0000-0000-000000000000'],
  ['GET', '/dev/'],
  ['GET', '/dev/anything'],
  ['GET', '/widget-demo.html'],
  ['POST', '/api/v1/sandbox/seed'],
  ['GET', '/api/v1/sandbox/bank/faults'],
  ['GET', '/api/v1/sandbox/bank/scenarios'],
  ['POST', '/api/v1/sandbox/payments/0192f0c1-2d3e-7a4b-8c5d-6e7f80910203/advance'],
  ['POST', '/api/v1/sandbox/merchants'],
  ['POST', '/api/v1/sandbox/customers'],
  ['GET', '/api/v1/sandbox/accounts'],
  ['GET', '/api/v1/sandbox/books'],
  ['GET', '/api/v1/sandbox/clock'],
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
  t.match(await sandbox.call('GET', '/dev/mock-bank-sca'), { status: 400 })
  t.match(await sandbox.call('GET', '/dev/merchant-success'), { status: 200, text: /^<!doctype html>/ })
})

t.test('in live mode the checkout stays, for tokens that their merchant has signed', async (t) => {
  const text = encodeCheckoutToken({
    amount: '12.30',
    currency: 'GBP',
    merchantName: 'Acme',
    apiUrl: 'https://pay.example/api/v1',
    returnUrl: 'https://shop.example/basket',
    merchantClientId: merchant.clientId,
    callbackOrigin: 'https://shop.example',
    jti: 'order 1',
  })
  const page = (token: string) => live.call('GET', `/checkout?${new URLSearchParams({ token })}`)
  const signed = signCheckoutToken(text, merchant.secret)
  t.match(await page(signed), { status: 403, text: /not opened from a page of the shop/ })
  await live.owner.query(`update merchants set checkout_origins = '{https://shop.example}' where id = $1`, [
    merchant.id,
  ])
  const shown = await page(signed)
  t.match(shown, { status: 200, text: /<h1>Pay Acme<\/h1>/ })
  t.match(shown.headers['content-security-policy'], /form-action 'self' https:;/, 'banks are anywhere')
  for (const token of [text, `${text}.${'0'.repeat(64)}`, signCheckoutToken(text, '0'.repeat(64))]) {
    const refused = await page(token)
    t.match(refused, { status: 401, text: /This checkout can&#39;t be used/ })
    t.notMatch(refused.text, /CHECKOUT_TOKEN|developer/, 'payers are told nothing of its making')
  }
  const query = { amount: '1.00', currency: 'GBP', merchant: merchant.clientId, return_url: 'https://shop.example/' }
  const parts = await live.call('GET', `/checkout?${new URLSearchParams(query)}`)
  t.match(parts, { status: 401, text: /This checkout can&#39;t be used/ }, "an address of parts is nobody's word")
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

t.test('in live mode, headers do not authenticate', async (t) => {
  const headers = { 'x-merchant-client-id': merchant.clientId, 'x-platform-user': 'ada' }
  t.match(await live.call('GET', '/api/v1/payments', { headers }), { status: 401, body: { code: 'UNAUTHENTICATED' } })
  t.match(await live.call('GET', '/api/v1/admin/merchants', { headers }), { status: 401 })
})
