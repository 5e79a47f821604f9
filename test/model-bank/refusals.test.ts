import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Agent } from 'undici'
import { decideAtBank, startTestBank } from '../support/model-bank.ts'
import {
  approvedToken,
  authoriseAddress,
  call,
  callToken,
  exchange,
  makeClient,
  makeRegisteredClient,
  paymentConsent,
  paymentOrder,
  register,
  signBody,
  stage,
} from './client.ts'
import type { Answer, CallChanges } from './client.ts'

const PATH = '/domestic-payment-consents'
const code = ({ status, body }: Answer): string => `${String(status)} ${String(body['Errors']?.[0]?.ErrorCode)}`

t.test('what identifies a client', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const stranger = { ...client, dispatcher: new Agent({ connect: { ca: bank.ca } }) }
  t.teardown(() => stranger.dispatcher.close())

  t.test('no certificate opens no door but the payer’s', async (t) => {
    t.match(await register(stranger), { status: 401 })
    t.match(await callToken(stranger, { grant_type: 'client_credentials', scope: 'payments' }), { status: 401 })
    const token = await callToken(client, { grant_type: 'client_credentials', scope: 'payments' })
    const stolen = await call(stranger, 'GET', `${PATH}/pdc-1`, { token: String(token.body['access_token']) })
    t.equal(code(stolen), '401 U000', 'a token without its certificate is worth nothing')
  })

  t.test('a certificate of other software is worth nothing either', async (t) => {
    const issued = await bank.control('POST', '/directory/certificates', { software_id: 'another-software' })
    const { cert, key } = issued as { cert: string; key: string }
    const foreign = { ...client, dispatcher: new Agent({ connect: { ca: bank.ca, cert, key } }) }
    t.match(await register(foreign), { status: 400, body: { error: 'invalid_client_metadata' } })
    t.equal(code(await call(foreign, 'GET', `${PATH}/pdc-1`)), '401 U000')
    await foreign.dispatcher.close()
  })

  t.test('a registration is signed, for this bank, and within its software statement', async (t) => {
    const fresh = await makeClient(bank)
    const refused = async (changes: Record<string, unknown>, error: string): Promise<void> => {
      t.match((await register(fresh, changes)).body, { error }, JSON.stringify(changes).slice(0, 60))
    }
    await refused({ aud: 'https://other.example' }, 'invalid_client_metadata')
    await refused({ iss: 'another' }, 'invalid_client_metadata')
    await refused({ software_statement: 'a.b.c' }, 'invalid_software_statement')
    await refused({ redirect_uris: ['https://evil.example/bank/return'] }, 'invalid_redirect_uri')
    await refused({ scope: 'openid payments accounts' }, 'invalid_client_metadata')
    await refused({ id_token_signed_response_alg: 'RS256' }, 'invalid_client_metadata')
    await refused({ token_endpoint_auth_method: 'tls_client_auth' }, 'invalid_client_metadata')
    await refused(
      { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_subject_dn: 'CN=another' },
      'invalid_client_metadata',
    )
    t.match(await register(fresh, {}, 'application/json'), { status: 400, body: { error: 'invalid_request' } })
    t.match(await register(fresh, {}, 'application/jose'), { status: 201 })
  })

  t.test('a client that registers its certificate needs no assertion', async (t) => {
    const subject = `CN=${client.statement.software_id},2.5.4.97=PSDGB-OB-${client.statement.org_id},O=Payment initiation service,C=GB`
    const registered = await register(client, {
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_subject_dn: subject,
    })
    t.match(registered, { status: 201 }, registered.text)
    const request = {
      grant_type: 'client_credentials',
      scope: 'payments',
      client_id: String(registered.body['client_id']),
    }
    t.match(await callToken(client, { ...request, client_assertion: '', client_assertion_type: '' }), { status: 200 })
  })

  t.test('client assertions', async (t) => {
    const request = { grant_type: 'client_credentials', scope: 'payments' }
    const refused = async (changes: Record<string, unknown>): Promise<void> => {
      t.match(await callToken(client, request, changes), { body: { error: 'invalid_client' } }, JSON.stringify(changes))
    }
    await refused({ aud: bank.issuer })
    await refused({ aud: 'https://other.example/token' })
    await refused({ iss: 'another' })
    await refused({ exp: Math.floor(Date.now() / 1_000) - 60 })
    t.match(await callToken(client, request, { jti: 'once' }), { status: 200 })
    await refused({ jti: 'once' })
    const scopeless = await callToken(client, { grant_type: 'client_credentials' })
    const shown = await call(client, 'GET', `${PATH}/pdc-1`, { token: String(scopeless.body['access_token']) })
    t.equal(code(shown), '403 U000', 'a token without the scope payments')
  })
})

t.test('headers and signatures of requests', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const refused = async (changes: CallChanges, expected: string, body: unknown = paymentConsent()): Promise<void> => {
    t.equal(code(await call(client, 'POST', PATH, { ...changes, body })), expected, JSON.stringify(changes))
  }
  const iat = 'http://openbanking.org.uk/iat'
  const now = Math.floor(Date.now() / 1_000)
  await refused({ headers: { 'x-fapi-interaction-id': undefined } }, '400 U007')
  await refused({ headers: { 'x-fapi-interaction-id': 'not-a-uuid' } }, '400 U006')
  await refused({ headers: { 'x-idempotency-key': undefined } }, '400 U007')
  await refused({ headers: { 'x-idempotency-key': 'k'.repeat(41) } }, '400 U006')
  await refused({ headers: { 'content-type': 'text/plain' } }, '415 U000')
  await refused({ headers: { accept: 'text/html' } }, '406 U000')
  await refused({ headers: { authorization: 'Basic x' } }, '401 U000')
  await refused({ token: randomBytes(32).toString('base64url') }, '401 U000')
  await refused({ headers: { 'x-jws-signature': undefined } }, '400 U019')
  await refused({ headers: { 'x-jws-signature': 'not-a-signature' } }, '400 U018')
  await refused({ headers: { 'x-jws-signature': await signBody(client, 'other bytes') } }, '400 U015')
  await refused({ signature: { kid: 'unknown' } }, '400 U015')
  await refused({ signature: { [iat]: now + 600 } }, '400 U016')
  await refused({ signature: { [iat]: String(now) } }, '400 U016')
  await refused({ signature: { 'http://openbanking.org.uk/iss': 'another/software' } }, '400 U016')
  await refused({ signature: { 'http://openbanking.org.uk/tan': 'example.org' } }, '400 U016')
  await refused({ signature: { crit: [iat] } }, '400 U016')
  await refused({ signature: { 'http://openbanking.org.uk/tan': undefined, crit: [iat] } }, '400 U017')
  await refused({}, '400 U004', { ...paymentConsent(), Risk: undefined })
  await refused({}, '400 U005', { ...paymentConsent(), Extra: true })
  await refused({}, '400 U002', paymentConsent({ InstructedAmount: { Amount: '1.234', Currency: 'GBP' } }))
  await refused({}, '400 U023', paymentConsent({ InstructedAmount: { Amount: '1.00', Currency: 'EUR' } }))
  t.match(await bank.books(), { consents: { length: 0 } }, 'nothing of it was entered')
})

t.test('the same idempotency key', async (t) => {
  const client = await makeRegisteredClient(await startTestBank(t))
  const headers = { 'x-idempotency-key': 'the-same' }
  const first = await call(client, 'POST', PATH, { headers, body: paymentConsent() })
  const again = await call(client, 'POST', PATH, { headers, body: paymentConsent() })
  t.equal(again.text, first.text, 'gets the same answer for the same body')
  const other = await call(client, 'POST', PATH, { headers, body: paymentConsent({ EndToEndIdentification: 'other' }) })
  t.equal(code(other), '400 U006', 'and none for another body')
})

t.test('a payment is what the payer approved, and is made once', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const consentId = await stage(client)
  const otherId = await stage(client)
  const { access: token } = await approvedToken(client, consentId)
  const pay = (body: unknown, changes: CallChanges = {}): Promise<Answer> =>
    call(client, 'POST', '/domestic-payments', { token, ...changes, body })

  const more = paymentConsent({ InstructedAmount: { Amount: '99.00', Currency: 'GBP' } })
  t.equal(code(await pay(paymentOrder(consentId, more))), '400 U008')
  t.equal(code(await pay({ ...paymentOrder(consentId), Risk: {} })), '400 U008')
  t.equal(code(await pay(paymentOrder(otherId))), '403 U000', 'a token pays for its own consent alone')
  t.equal(code(await pay(paymentOrder('pdc-none'))), '400 U011')
  const clientToken = await callToken(client, { grant_type: 'client_credentials', scope: 'payments' })
  const asClient = await pay(paymentOrder(consentId), { token: String(clientToken.body['access_token']) })
  t.equal(code(asClient), '403 U000', 'without a payer nothing is paid')
  const asPayer = await call(client, 'GET', `${PATH}/${consentId}`, { token })
  t.equal(code(asPayer), '403 U000')

  const headers = { 'x-idempotency-key': 'one-payment' }
  const paid = await pay(paymentOrder(consentId), { headers })
  t.equal(paid.status, 201)
  t.equal((await pay(paymentOrder(consentId), { headers })).text, paid.text)
  t.equal(code(await pay(paymentOrder(consentId))), '400 U009', 'a consent pays once')
  t.match(await call(client, 'GET', `${PATH}/${consentId}`), { body: { Data: { Status: 'COND' } } })
  t.equal((await bank.books()).payments.length, 1)
  t.equal(code(await call(client, 'GET', '/domestic-payments/pdp-none')), '400 U011')
  t.equal(
    code(await call(client, 'DELETE', `/domestic-payments/${String(paid.body['Data'].DomesticPaymentId)}`)),
    '405 U000',
  )
})

t.test('another registration does not see the consents of this one', async (t) => {
  const bank = await startTestBank(t)
  const [client, other] = [await makeRegisteredClient(bank), await makeRegisteredClient(bank)]
  const consentId = await stage(client)
  t.equal(code(await call(other, 'GET', `${PATH}/${consentId}`)), '400 U011')
  const returned = await decideAtBank(bank, await authoriseAddress(other, consentId))
  t.match(returned.hash, /^#error=invalid_request_object/)
})

t.test('what a payer may decide', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)

  t.test('a payer who cancels can come back, one who rejects cannot', async (t) => {
    const consentId = await stage(client)
    const cancelled = await decideAtBank(bank, await authoriseAddress(client, consentId), { decision: 'cancel' })
    t.match(cancelled.hash, /^#error=access_denied&.*state=state-of-the-payment/)
    t.match(await call(client, 'GET', `${PATH}/${consentId}`), { body: { Data: { Status: 'AWAU' } } })
    const rejected = await decideAtBank(bank, await authoriseAddress(client, consentId), { decision: 'reject' })
    t.match(rejected.hash, /^#error=access_denied&/)
    t.match(await call(client, 'GET', `${PATH}/${consentId}`), { body: { Data: { Status: 'RJCT' } } })
    const late = await decideAtBank(bank, await authoriseAddress(client, consentId))
    t.match(late.hash, /^#error=invalid_request&/)
  })

  t.test('an account without money pays nothing', async (t) => {
    const consentId = await stage(client)
    const { access: token } = await approvedToken(client, consentId, '20000055556666')
    const funds = await call(client, 'GET', `${PATH}/${consentId}/funds-confirmation`, { token })
    t.match(funds, { body: { Data: { FundsAvailableResult: { FundsAvailable: false } } } })
    const paid = await call(client, 'POST', '/domestic-payments', { token, body: paymentOrder(consentId) })
    t.match(paid, { status: 201, body: { Data: { Status: 'RJCT', StatusReason: [{ StatusReasonCode: 'AM04' }] } } })
  })

  t.test('a code is exchanged once, and a second exchange ends the tokens of the first', async (t) => {
    const consentId = await stage(client)
    const returned = await decideAtBank(bank, await authoriseAddress(client, consentId))
    const value = new URLSearchParams(returned.hash.slice(1)).get('code') ?? ''
    const { access: token } = await exchange(client, value)
    await t.rejects(exchange(client, value), /invalid_grant/)
    const paid = await call(client, 'POST', '/domestic-payments', { token, body: paymentOrder(consentId) })
    t.equal(code(paid), '401 U000')
  })
})

t.test('request objects', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const consentId = await stage(client)
  const now = Math.floor(Date.now() / 1_000)
  const refused = async (changes: Record<string, unknown>, problem: RegExp): Promise<void> => {
    const address = await authoriseAddress(client, consentId, changes)
    const shown = await decideAtBank(bank, address).then(
      ({ href }) => decodeURIComponent(href).replaceAll('+', ' '),
      String,
    )
    t.match(shown, problem, JSON.stringify(changes))
  }
  await refused({ aud: 'https://other.example' }, /invalid_request_object/)
  await refused({ iss: 'another-client' }, /invalid_request_object/)
  await refused({ client_id: 'another-client' }, /invalid_request/)
  await refused({ response_type: 'code' }, /response_type/)
  await refused({ redirect_uri: 'http://127.0.0.1:3999/bank/return' }, /redirect_uri/)
  await refused({ redirect_uri: 'https://evil.example/' }, /redirect_uri/)
  await refused({ nonce: undefined }, /nonce/)
  await refused({ state: undefined }, /state/)
  await refused({ nbf: now - 4_000, exp: now + 60 }, /exp/)
  await refused({ exp: now - 60 }, /invalid_request_object/)
  await refused({ claims: {} }, /claims/)
  const plain = `${bank.issuer}/authorize?${new URLSearchParams({
    response_type: 'code id_token',
    client_id: client.clientId,
    scope: 'openid payments',
    redirect_uri: 'http://127.0.0.1:3000/bank/return',
    nonce: 'nonce-of-the-visit',
  }).toString()}`
  const shown = await decideAtBank(bank, plain).then(String, String)
  t.match(shown, /Request\+Object|Request Object/, 'a request that is not signed')
})
