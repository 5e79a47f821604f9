import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { CALLBACK_SIGNATURE_HEADER, postOverHttp, signCallback } from '../../src/banks/mock-callback.ts'
import { freePort } from '../../src/db/free-port.ts'
import { BANK_SECRET, consentRequest, decideOn, stage, testMockBank } from '../support/mock-bank.ts'

type Received = { url: string | undefined; headers: Record<string, string | undefined>; rawBody: Buffer }

const received: Received[] = []
let status = 200
const service = createServer((req, res) => {
  void buffer(req).then((rawBody) => {
    const signature = req.headers[CALLBACK_SIGNATURE_HEADER]
    received.push({ url: req.url, headers: { [CALLBACK_SIGNATURE_HEADER]: String(signature) }, rawBody })
    res.writeHead(status).end('{}')
  })
})
const port = await freePort()
await new Promise<void>((resolve) => service.listen(port, '127.0.0.1', resolve))
t.teardown(() => service.close())

const { bank } = await testMockBank(t, { publicUrl: `http://127.0.0.1:${port}`, post: postOverHttp })

t.beforeEach(() => {
  received.length = 0
  status = 200
})

/** A callback of the body's bytes, signed as the mock bank signs. */
function signed(body: unknown, secret = BANK_SECRET) {
  const rawBody = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { headers: { [CALLBACK_SIGNATURE_HEADER]: signCallback(secret, rawBody) }, rawBody }
}

t.test("callback-before-redirect: the service has the bank's word before the payer has a code", async (t) => {
  const consent = consentRequest({ scenario: 'callback-before-redirect' })
  t.ok(await decideOn(bank, consent))
  t.equal(received.length, 1)
  t.equal(received[0]?.url, '/api/v1/bank/callbacks/mock')
  t.match(bank.readCallback(received[0] ?? signed('')), {
    state: consent.state,
    result: { outcome: 'authorised', bankReference: /^MB/, settleInSeconds: 0 },
  })
})

t.test('a cancellation is called back as well', async (t) => {
  const consent = consentRequest({ scenario: 'callback-before-redirect' })
  await decideOn(bank, consent, 'cancel')
  t.same(bank.readCallback(received[0] ?? signed('')), {
    state: consent.state,
    result: { outcome: 'rejected', failureCode: 'ACCESS_DENIED' },
  })
})

t.test('duplicate-callback: the same bytes come twice, and pressing again adds none', async (t) => {
  const consent = consentRequest({ scenario: 'duplicate-callback' })
  await decideOn(bank, consent)
  await decideOn(bank, consent)
  t.equal(received.length, 2)
  t.same(received[0], received[1])
})

t.test('other scenarios call nobody back', async (t) => {
  await decideOn(bank, consentRequest())
  t.equal(received.length, 0)
})

t.test("a service that refuses or can't be reached does not keep the payer from returning", async (t) => {
  status = 500
  t.ok(await decideOn(bank, consentRequest({ scenario: 'callback-before-redirect' })))
  const { bank: lost } = await testMockBank(t, {
    publicUrl: `http://127.0.0.1:${await freePort()}`,
    post: postOverHttp,
  })
  t.ok(await decideOn(lost, consentRequest({ scenario: 'duplicate-callback' })))
})

const genuine = { state: 'a state', outcome: 'rejected', failure_code: 'LIMIT_EXCEEDED' }

t.test('a callback that the bank did not sign is not read', async (t) => {
  const callback = signed(genuine)
  t.ok(bank.readCallback(callback), 'the genuine one is')
  const forged = [
    signed(genuine, 'another key'),
    { ...callback, headers: {} },
    { ...callback, headers: { [CALLBACK_SIGNATURE_HEADER]: '' } },
    {
      ...callback,
      headers: { [CALLBACK_SIGNATURE_HEADER]: callback.headers[CALLBACK_SIGNATURE_HEADER]?.toUpperCase() },
    },
    { ...callback, rawBody: Buffer.from(JSON.stringify({ ...genuine, state: 'another' })) },
    { ...callback, rawBody: Buffer.concat([callback.rawBody, Buffer.from(' ')]) },
  ]
  for (const wrong of forged) t.equal(bank.readCallback(wrong), undefined)
})

t.test('a signed body of another shape is not read', async (t) => {
  const wrong = [
    '',
    'not json',
    'null',
    '[]',
    {},
    { ...genuine, state: '' },
    { ...genuine, failure_code: 'toString' },
    { ...genuine, failure_code: undefined },
    { ...genuine, extra: 1 },
    { state: 's', outcome: 'authorised' },
    { state: 's', outcome: 'authorised', settle_in_seconds: -1 },
    { state: 's', outcome: 'settled', settle_in_seconds: 0 },
  ]
  for (const body of wrong) t.equal(bank.readCallback(signed(body)), undefined, JSON.stringify(body))
})

t.test('the signature of a request object, which the payer sees, signs no callback', async (t) => {
  const [payload = '', signature = ''] = (stage(bank, consentRequest()).searchParams.get('request') ?? '').split('.')
  for (const rawBody of [Buffer.from(payload), Buffer.from(payload, 'base64url')]) {
    t.not(signature, signCallback(BANK_SECRET, rawBody))
    t.equal(bank.readCallback({ headers: { [CALLBACK_SIGNATURE_HEADER]: signature }, rawBody }), undefined)
  }
})
