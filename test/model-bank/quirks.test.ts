import { createHash, randomBytes } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import { Agent } from 'undici'
import type { FaultName } from '../../src/model-bank/faults.ts'
import type { QuirkName } from '../../src/model-bank/quirks.ts'
import { decideAtBank, startTestBank } from '../support/model-bank.ts'
import {
  authoriseAddress,
  call,
  callToken,
  clientToken,
  fetchJson,
  makeRegisteredClient,
  paymentConsent,
  register,
  stage,
} from './client.ts'
import type { Answer } from './client.ts'

const PATH = '/domestic-payment-consents'

t.test('each quirk changes what it names', async (t) => {
  const bank = await startTestBank(t, { tolerated: /ContractPresent/ })
  const client = await makeRegisteredClient(bank)
  const create = (body = paymentConsent(), changes = {}): Promise<Answer> =>
    call(client, 'POST', PATH, { ...changes, body })
  const risk = (Risk: Record<string, unknown>): ReturnType<typeof paymentConsent> => ({ ...paymentConsent(), Risk })

  await bank.setQuirks('b64_header')
  t.match(await create(), { status: 400 })
  const claims = ['http://openbanking.org.uk/iat', 'http://openbanking.org.uk/iss', 'http://openbanking.org.uk/tan']
  const old = await create(paymentConsent(), { signature: { b64: false, crit: ['b64', ...claims] } })
  t.equal(old.status, 201, old.text)
  t.match(decodeProtectedHeader(String(old.headers['x-jws-signature'])), { b64: false })

  await bank.setQuirks('unsigned_responses')
  t.match(await create(), { status: 201, headers: { 'x-jws-signature': undefined } })
  await bank.setQuirks('no_refund_account')
  t.match(await create(), { status: 400, body: { Errors: [{ Path: 'Data.ReadRefundAccount' }] } })
  await bank.setQuirks('no_contract_present_indicator')
  t.match(await create(), { status: 400, body: { Errors: [{ Path: 'Risk.ContractPresentIndicator' }] } })
  t.match(await create(risk({ PaymentContextCode: 'TransferToThirdParty' })), { status: 201 })
  await bank.setQuirks('misspelt_contract_present_indicator')
  t.match(await create(), { status: 400 })
  t.match(await create(risk({ ContractPresentInidicator: true })), { status: 201 })
  await bank.setQuirks('financial_id_required')
  t.match(await create(), { status: 400 })
  t.match(await create(paymentConsent(), { headers: { 'x-fapi-financial-id': '0015800001041REAAY' } }), { status: 201 })
  await bank.setQuirks('no_payment_details', 'no_funds_confirmation')
  t.match(await call(client, 'GET', '/domestic-payments/pdp-1/payment-details'), { status: 400 })

  await bank.setQuirks('assertion_audience_issuer')
  const ask = { grant_type: 'client_credentials', scope: 'payments' }
  t.match(await callToken(client, ask), { body: { error: 'invalid_client' } })
  t.match(await callToken(client, ask, { aud: bank.issuer }), { status: 200 })
  await bank.setQuirks('registration_as_jose')
  t.match(await register(client), { status: 400 })
  await bank.setQuirks('dotted_organisation_id')
  const subject = `CN=${client.statement.software_id},organizationIdentifier=PSDGB-OB-${client.statement.org_id},O=Payment initiation service,C=GB`
  const byCertificate = { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_subject_dn: subject }
  t.match(await register(client, byCertificate), { status: 400 })
  const dotted = subject.replace('organizationIdentifier', '2.5.4.97')
  t.match(await register(client, { ...byCertificate, tls_client_auth_subject_dn: dotted }), { status: 201 })
  await bank.setQuirks('nonce_in_query')
  const address = await authoriseAddress(client, await stage(client))
  t.match((await decideAtBank(bank, address)).hash, /^#error=invalid_request&/)
  t.match((await decideAtBank(bank, `${address}&nonce=nonce-of-the-visit`)).hash, /^#code=/)
  await bank.setQuirks('no_registration_endpoint')
  t.match(await register(client), { status: 404 })
  t.notMatch(await fetchJson(client, '/.well-known/openid-configuration'), { registration_endpoint: String })
  const byHand = { redirect_uris: ['http://127.0.0.1:3000/bank/return'] }
  const { client_id: clientId } = (await bank.control('POST', '/registrations', byHand)) as { client_id: string }
  t.ok(await clientToken({ ...client, clientId }))
  await bank.setQuirks('discovery_elsewhere')
  t.same(await fetchJson(client, '/.well-known/openid-configuration'), { error: 'not_found' })
  t.match(await fetchJson(client, '/discovery'), { issuer: bank.issuer, registration_endpoint: undefined })
})

t.test('id tokens deviate, or lie', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const idToken = async (): Promise<string> => {
    const returned = await decideAtBank(bank, await authoriseAddress(client, await stage(client)))
    return new URLSearchParams(returned.hash.slice(1)).get('id_token') ?? returned.hash
  }
  const lacks: [QuirkName, string][] = [
    ['id_token_without_acr', 'acr'],
    ['id_token_without_auth_time', 'auth_time'],
    ['id_token_without_consent_id', 'openbanking_intent_id'],
    ['id_token_without_nonce', 'nonce'],
  ]
  for (const [quirk, claim] of lacks) {
    await bank.setQuirks()
    t.ok(claim in decodeJwt(await idToken()), claim)
    await bank.setQuirks(quirk)
    t.notOk(claim in decodeJwt(await idToken()), quirk)
  }
  await bank.setQuirks('id_token_exp_in_milliseconds')
  t.ok((decodeJwt(await idToken()).exp ?? 0) > 1e12)
  await bank.setQuirks()

  const lies: [FaultName, Record<string, unknown>][] = [
    ['return_wrong_nonce', { nonce: 'another-nonce' }],
    ['return_wrong_issuer', { iss: 'https://another-bank.example' }],
    ['return_wrong_audience', { aud: 'client-another' }],
    ['return_wrong_intent', { openbanking_intent_id: 'pdc-another' }],
    ['return_wrong_acr', { acr: 'urn:openbanking:psd2:ca' }],
    ['return_wrong_c_hash', { c_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    ['return_without_s_hash', { s_hash: undefined }],
  ]
  for (const [name, claims] of lies) {
    await bank.setFault({ name, times: 1 })
    t.match(decodeJwt(await idToken()), claims, name)
  }
  await bank.setFault({ name: 'return_alg_rs256', times: 1 })
  t.match(decodeProtectedHeader(await idToken()), { alg: 'RS256' })
  await bank.setFault({ name: 'return_alg_none', times: 1 })
  t.match(await idToken(), /\.$/)
})

t.test('a bank that demands pushed requests announces them, and takes no others', async (t) => {
  const bank = await startTestBank(t, { quirks: ['pushed_requests'] })
  const client = await makeRegisteredClient(bank)
  const { pushed_authorization_request_endpoint: endpoint } = await fetchJson(
    client,
    '/.well-known/openid-configuration',
  )
  t.equal(endpoint, `${bank.issuer}/par`)
  const verifier = randomBytes(32).toString('base64url')
  const pkce = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const address = new URL(await authoriseAddress(client, await stage(client), pkce))
  const direct = await decideAtBank(bank, address.href)
  t.match(direct.hash, /^#error=invalid_request&.*Pushed/)
  const pushed = await callToken(client, { request: address.searchParams.get('request') ?? '' }, {}, '/par')
  t.match(pushed, { status: 201, body: { request_uri: /^urn:/ } }, pushed.text)
  const query = new URLSearchParams({ client_id: client.clientId, request_uri: String(pushed.body['request_uri']) })
  const returned = await decideAtBank(bank, `${bank.issuer}/authorize?${query.toString()}`)
  const code = new URLSearchParams(returned.hash.slice(1)).get('code') ?? ''
  const redirect_uri = 'http://127.0.0.1:3000/bank/return'
  const request = { grant_type: 'authorization_code', code, redirect_uri }
  t.match(await callToken(client, { ...request, code_verifier: verifier }), { status: 200 })
})

t.test('an expired certificate opens nothing', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)
  const { cert, key } = (await bank.control('POST', '/directory/certificates', { valid_days: -1 })) as Record<
    string,
    string
  >
  const dispatcher = new Agent({ connect: { ca: bank.ca, cert: cert ?? '', key: key ?? '' } })
  t.teardown(() => dispatcher.close())
  await t.rejects(clientToken({ ...client, dispatcher }), /client certificate/)
})
