import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { CALLBACK_SIGNATURE_HEADER, postOverHttp, signCallback } from '../../src/banks/mock-callback.ts'
import { freePort } from '../support/free-port.ts'
import { isHit } from '../../src/banks/faults.ts'
import type { FaultSettings } from '../../src/banks/faults.ts'
import { deleteFaultSettings, findFaultSettings, putFaultSettings } from '../../src/banks/faults-sql.ts'
import {
  BANK_SECRET,
  addPayee,
  books,
  consentRequest,
  decideOn,
  executionOf,
  patience,
  refundOf,
  testMockBank,
} from '../support/mock-bank.ts'

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

const { bank, pool, owner } = await testMockBank(t, { publicUrl: `http://127.0.0.1:${port}`, post: postOverHttp })

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

t.test('other scenarios send no callback', async (t) => {
  await decideOn(bank, consentRequest())
  t.equal(received.length, 0)
})

t.test("a service that rejects callbacks or can't be reached does not keep the payer from returning", async (t) => {
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
  t.ok(bank.readCallback(callback), 'the genuine callback is accepted')
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

const QUIET: FaultSettings = {
  latencyMs: 0,
  dropCallback: null,
  duplicate: null,
  unavailable: null,
  failPayout: null,
  returnPayout: null,
  seed: 7,
}

/** A payee of its own with these fault settings. */
async function merchantWithFaults(faults: Partial<FaultSettings>): Promise<string> {
  const payeeId = await addPayee(owner)
  await putFaultSettings(pool, payeeId, { ...QUIET, ...faults })
  return payeeId
}

/** How often each of ten decisions is reported. */
async function reports(payeeId: string, scenario = 'success'): Promise<number[]> {
  const counts: number[] = []
  for (let n = 0; n < 10; n += 1) {
    received.length = 0
    await decideOn(bank, consentRequest({ payeeId, scenario }))
    counts.push(received.length)
  }
  return counts
}

t.test('fault settings for callbacks make the bank report each decision, as the seed determines', async (t) => {
  const faults = { dropCallback: 3_000, duplicate: 3_000 }
  const first = await reports(await merchantWithFaults(faults))
  t.same(new Set(first), new Set([0, 1, 2]), 'some callbacks are lost, some arrive twice')
  t.same(await reports(await merchantWithFaults(faults)), first, 'the same seed hits the same callbacks')
  t.notSame(await reports(await merchantWithFaults({ ...faults, seed: 8 })), first, 'another seed: others')
  const payeeId = await merchantWithFaults(faults)
  await reports(payeeId)
  await putFaultSettings(pool, payeeId, { ...QUIET, ...faults })
  t.same(await reports(payeeId), first, 'setting the faults again restarts the sequence')
})

t.test('probabilities of 0 and of 100 %', async (t) => {
  t.same(await reports(await merchantWithFaults({ dropCallback: 0 })), Array(10).fill(1), 'no callback is lost')
  t.same(await reports(await merchantWithFaults({ dropCallback: 10_000 })), Array(10).fill(0))
  t.same(await reports(await merchantWithFaults({ duplicate: 10_000 })), Array(10).fill(2))
  t.same(await reports(await merchantWithFaults({ dropCallback: 10_000 }), 'duplicate-callback'), Array(10).fill(0))
  t.same(await reports(await merchantWithFaults({ duplicate: 10_000 }), 'duplicate-callback'), Array(10).fill(4))
  t.same(
    await reports(await merchantWithFaults({ latencyMs: 1 })),
    Array(10).fill(0),
    'faults without callback settings',
  )
  t.same(
    await reports(await merchantWithFaults({ duplicate: 10_000 }), 'never-returns'),
    Array(10).fill(0),
    'nobody says anything',
  )
  const hit = Array.from({ length: 10_000 }, (_, n) => isHit(7, 'unavailable', BigInt(n), 2_000)).filter(Boolean).length
  t.ok(hit > 1_800 && hit < 2_200, `a fifth of ten thousand is about that: ${hit}`)
})

t.test('fault settings of one payee do not affect the others', async (t) => {
  await merchantWithFaults({ unavailable: 10_000, dropCallback: 10_000, latencyMs: 60_000 })
  const consent = consentRequest({ payeeId: await addPayee(owner), scenario: 'callback-before-redirect' })
  const code = (await decideOn(bank, consent)) ?? ''
  t.equal(received.length, 1)
  t.match(await bank.exchangeCode({ state: consent.state, code }, patience()), { outcome: 'authorised' })
  t.match(await bank.execute(executionOf(consent), patience()), { outcome: 'executed' })
})

t.test('calls without an answer are sometimes carried out nevertheless, and never twice', async (t) => {
  const payeeId = await merchantWithFaults({ unavailable: 10_000 })
  const consents = Array.from({ length: 12 }, () => consentRequest({ payeeId }))
  for (const consent of consents) {
    await decideOn(bank, consent)
    await t.rejects(bank.execute(executionOf(consent), patience()), { name: 'BankUnavailableError' })
  }
  const done = await Promise.all(consents.map(async ({ endToEndId }) => (await books(pool, endToEndId)).debits.length))
  t.same(new Set(done), new Set([0, 1]), 'some calls were carried out, some were not')
  t.match(await findFaultSettings(pool, payeeId), { calls: 12n, callbacks: 0n })
  await deleteFaultSettings(pool, payeeId)
  for (const consent of consents) {
    t.match(await bank.execute(executionOf(consent), patience()), { outcome: 'executed' })
    t.same((await books(pool, consent.endToEndId)).debits, ['50.0000 GBP'])
  }
})

t.test('refunds, exchanges and payments under a mandate get no answer either', async (t) => {
  const payeeId = await addPayee(owner)
  const consent = consentRequest({ payeeId })
  const code = (await decideOn(bank, consent)) ?? ''
  await bank.execute(executionOf(consent), patience())
  await putFaultSettings(pool, payeeId, { ...QUIET, unavailable: 10_000 })
  const silent = { name: 'BankUnavailableError' }
  await t.rejects(bank.exchangeCode({ state: consent.state, code }, patience()), silent)
  await t.rejects(bank.refund(refundOf(consent), patience()), silent)
  const [{ consent_reference: bankConsentReference }] = (
    await owner.query('select consent_reference from mock_bank.authorisations where state = $1', [consent.state])
  ).rows
  await t.rejects(bank.endMandate({ bankConsentReference }, patience()), silent)
  t.match(await bank.exchangeCode({ state: consent.state, code: 'wrong' }, patience()), { outcome: 'code-invalid' })
})

t.test(
  'latency comes before each answer; a caller who gives up first hears nothing, and nothing was done',
  async (t) => {
    const consent = consentRequest({ payeeId: await merchantWithFaults({ latencyMs: 60 }) })
    const code = (await decideOn(bank, consent)) ?? ''
    const begunAt = performance.now()
    t.match(await bank.exchangeCode({ state: consent.state, code }, patience()), { outcome: 'authorised' })
    t.ok(performance.now() - begunAt >= 55)
    const never = consentRequest({ payeeId: await merchantWithFaults({ latencyMs: 60_000 }) })
    await decideOn(bank, never)
    await t.rejects(bank.execute(executionOf(never), AbortSignal.timeout(10)), { name: 'BankUnavailableError' })
    t.same((await books(pool, never.endToEndId)).debits, [])
  },
)
