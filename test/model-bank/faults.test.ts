import { decodeProtectedHeader, flattenedVerify, importJWK } from 'jose'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Agent } from 'undici'
import { startTestBank } from '../support/model-bank.ts'
import type { TestBank } from '../support/model-bank.ts'
import {
  approvedToken,
  call,
  clientToken,
  fetchJson,
  makeRegisteredClient,
  paymentConsent,
  paymentOrder,
  stage,
} from './client.ts'
import type { Answer, CallChanges, Client } from './client.ts'
import { until } from '../support/until.ts'

type Ready = { bank: TestBank; client: Client; pay: (changes?: CallChanges) => Promise<Answer> }

async function makeReady(t: Parameters<typeof startTestBank>[0]): Promise<Ready> {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const consentId = await stage(client)
  const { access: token } = await approvedToken(client, consentId)
  const headers = { 'x-idempotency-key': 'the-payment' }
  const pay = (changes: CallChanges = {}): Promise<Answer> =>
    call(client, 'POST', '/domestic-payments', { token, headers, ...changes, body: paymentOrder(consentId) })
  return { bank, client, pay }
}

t.test('an answer that is lost has paid, and the same request again gets it', async (t) => {
  const { bank, pay } = await makeReady(t)
  for (const name of ['half_a_body', 'server_error_after_acceptance'] as const) {
    await bank.setFault({ name, times: 1 })
    const lost = await pay().then(({ status }) => status, String)
    t.match(lost, name === 'half_a_body' ? /other side closed|terminated|SocketError/ : 503)
  }
  await bank.setFault({ name: 'timeout_after_acceptance', times: 1 })
  const unanswered = pay()
  await until('the fault is used', async () => {
    const { active } = (await bank.control('GET', '/faults')) as { active: unknown[] }
    return active.length === 0
  })
  t.equal(await Promise.race([unanswered, delay(200, 'no answer')]), 'no answer')
  t.equal((await bank.books()).payments.length, 1)
  t.match(await pay(), { status: 201, body: { Data: { Status: 'ACSC' } } })
  t.equal((await bank.books()).payments.length, 1)
})

t.test('what fails before the bank acts has not paid', async (t) => {
  const { bank, pay } = await makeReady(t)
  await bank.setFault({ name: 'too_many_requests', on: ['createPayment'], seconds: 7, times: 1 })
  t.match(await pay(), { status: 429, headers: { 'retry-after': '7' } })
  await bank.setFault({ name: 'server_error', on: ['createPayment'], status: 502, times: 1 })
  t.match(await pay(), { status: 502 })
  await bank.setFault({ name: 'down' })
  await t.rejects(pay())
  t.equal((await bank.books()).payments.length, 0, 'the control port is up while the bank is down')
  await bank.clearFaults()
  t.match(await pay(), { status: 201 })
})

t.test('a payment may settle late, or be rejected after it was accepted', async (t) => {
  const { bank, client, pay } = await makeReady(t)
  await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
  const paid = await pay()
  t.match(paid, { body: { Data: { Status: 'ACSP' } } })
  const id = String(paid.body['Data'].DomesticPaymentId)
  t.match(await call(client, 'GET', `/domestic-payments/${id}`), { body: { Data: { Status: 'ACSP' } } })
  await bank.control('POST', `/payments/${id}/settle`)
  t.match(await call(client, 'GET', `/domestic-payments/${id}`), { body: { Data: { Status: 'ACSC' } } })

  await bank.setFault({ name: 'rejected_after_acceptance', seconds: 0.05, reason_code: 'MD07', times: 1 })
  const consentId = await stage(client)
  const { access: token } = await approvedToken(client, consentId)
  const before = (await bank.books()).accounts[0]?.balance
  const accepted = await call(client, 'POST', '/domestic-payments', { token, body: paymentOrder(consentId) })
  t.match(accepted, { body: { Data: { Status: 'ACSP' } } })
  await new Promise((resolve) => setTimeout(resolve, 80))
  const path = `/domestic-payments/${String(accepted.body['Data'].DomesticPaymentId)}`
  t.match(await call(client, 'GET', path), {
    body: { Data: { Status: 'RJCT', StatusReason: [{ StatusReasonCode: 'MD07' }] } },
  })
  t.equal((await bank.books()).accounts[0]?.balance, before, 'the payer has the money back')
})

t.test('answers are signed with the bank’s key, unless they are not', async (t) => {
  const { bank, client } = await makeReady(t)
  const isGenuine = async ({ headers, text }: Answer): Promise<boolean> => {
    const [header = '', , signature = ''] = String(headers['x-jws-signature']).split('.')
    const jwks = await fetchJson(client, '/jwks')
    const claims = ['iat', 'iss', 'tan'].map((name) => [`http://openbanking.org.uk/${name}`, true])
    const jws = { protected: header, payload: Buffer.from(text).toString('base64url'), signature }
    const { kid } = decodeProtectedHeader(String(headers['x-jws-signature']))
    const key = await importJWK(
      jwks['keys'].find((each: { kid: string }) => each.kid === kid),
      'PS256',
    )
    return flattenedVerify(jws, key, { crit: Object.fromEntries(claims) }).then(
      () => true,
      () => false,
    )
  }
  const show = async (): Promise<Answer> =>
    call(client, 'POST', '/domestic-payment-consents', { body: paymentConsent() })
  t.ok(await isGenuine(await show()))
  await bank.setFault({ name: 'wrong_signature', times: 1 })
  t.notOk(await isGenuine(await show()))
  await bank.setFault({ name: 'missing_signature', times: 1 })
  t.equal((await show()).headers['x-jws-signature'], undefined)
  const before = await show()
  t.ok(await isGenuine(before), 'and then they are again')
  await bank.control('POST', '/message-keys')
  t.ok(await isGenuine(await show()), 'with a new key, which is announced')
  await t.rejects(isGenuine(before), 'and the old one is announced no more')
})

t.test('answers that a client must not follow or read to their end', async (t) => {
  const { bank, pay } = await makeReady(t)
  await bank.setFault({ name: 'redirect_elsewhere', on: ['createPayment'], times: 1 })
  t.match(await pay(), { status: 307, headers: { location: 'https://another-bank.example/' } })
  await bank.setFault({ name: 'oversized_body', times: 1 })
  t.ok((await pay()).text.length > 2_000_000)
})

t.test('access tokens end before their time, and the bank’s certificate is replaced', async (t) => {
  const { bank, client, pay } = await makeReady(t)
  await bank.control('DELETE', '/tokens')
  t.match(await pay(), { status: 401 })
  const connect = async (): Promise<string> => {
    const dispatcher = new Agent({ connect: { ca: bank.ca } })
    const answer = await fetchJson({ ...client, dispatcher }, '/jwks').then(
      () => 'trusted',
      (error: Error) => String(error.cause ?? error),
    )
    await dispatcher.close()
    return answer
  }
  t.equal(await connect(), 'trusted')
  await bank.control('POST', '/server-certificate', { valid_days: -1 })
  t.match(await connect(), /expired/)
  await bank.control('POST', '/server-certificate', { trusted: false })
  t.match(await connect(), /signature failure|unable to verify|self-signed/)
  await bank.control('POST', '/server-certificate')
  t.equal(await connect(), 'trusted')
})

t.test('the control port refuses what it does not know, and lists what it does', async (t) => {
  const { bank } = await makeReady(t)
  await t.rejects(bank.control('POST', '/faults', { name: 'earthquake' }), /Invalid option/)
  await t.rejects(bank.control('PUT', '/quirks', ['nothing']), /not a quirk/)
  await t.rejects(bank.control('GET', '/secrets'), /no control route/)
  t.match(await bank.control('GET', '/faults'), { known: { down: String } })
  t.match(await bank.control('GET', '/quirks'), { known: { b64_header: String } })
  t.match(await bank.control('GET', '/calls'), [{ operation: 'register', status: 201, connection: Number }])
})

t.test('certificates and signing keys change, and old ones end', async (t) => {
  const { bank, client } = await makeReady(t)
  const { kid } = client.statement.signing
  const added = (await bank.control('POST', '/directory/signing-keys')) as { kid: string; key: string }
  const keys = await fetchJson(client, `/directory/${client.statement.software_id}.jwks`)
  t.same(
    keys['keys'].map((key: { kid: string }) => key.kid),
    [kid, added.kid],
  )
  await bank.control('DELETE', `/directory/signing-keys/${kid}`)
  await t.rejects(clientToken(client), /invalid_client/, 'a revoked key signs nothing')
  const expired = (await bank.control('POST', '/directory/certificates', { valid_days: -1 })) as {
    cert: string
    key: string
  }
  t.match(expired, { cert: /BEGIN CERTIFICATE/, key: /BEGIN PRIVATE KEY/ })
})
