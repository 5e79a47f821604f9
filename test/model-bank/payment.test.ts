import t from 'tap'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { REDIRECT_URI, decideAtBank, startTestBank } from '../support/model-bank.ts'
import { authoriseAddress, call, callToken, fetchJson, makeRegisteredClient, paymentConsent } from './client.ts'

t.test('a payment from registration to settlement', async (t) => {
  const bank = await startTestBank(t)
  const client = await makeRegisteredClient(bank)

  const order = paymentConsent()
  const staged = await call(client, 'POST', '/domestic-payment-consents', { body: order })
  t.match(staged, {
    status: 201,
    body: { Data: { Status: 'AWAU', Initiation: order.Data['Initiation'] }, Risk: order.Risk },
  })
  const consentId: string = staged.body['Data'].ConsentId

  const returned = await decideAtBank(bank, await authoriseAddress(client, consentId))
  t.equal(`${returned.origin}${returned.pathname}`, REDIRECT_URI)
  const fragment = new URLSearchParams(returned.hash.slice(1))
  t.equal(fragment.get('state'), 'state-of-the-payment')
  const jwks = await fetchJson(client, '/jwks')
  const keys = createLocalJWKSet({ keys: jwks['keys'] })
  const { payload } = await jwtVerify(fragment.get('id_token') ?? '', keys, {
    issuer: bank.issuer,
    audience: client.clientId,
    algorithms: ['PS256'],
  })
  t.match(payload, {
    nonce: 'nonce-of-the-visit',
    openbanking_intent_id: consentId,
    acr: 'urn:openbanking:psd2:sca',
    c_hash: String,
    s_hash: String,
  })

  const tokens = await callToken(client, {
    grant_type: 'authorization_code',
    code: fragment.get('code') ?? '',
    redirect_uri: REDIRECT_URI,
  })
  t.match(tokens, { status: 200, body: { scope: 'openid payments', token_type: 'Bearer' } })
  const token = String(tokens.body['access_token'])

  const consent = await call(client, 'GET', `/domestic-payment-consents/${consentId}`)
  t.match(consent, { status: 200, body: { Data: { Status: 'AUTH' } } })
  const funds = await call(client, 'GET', `/domestic-payment-consents/${consentId}/funds-confirmation`, { token })
  t.match(funds, { status: 200, body: { Data: { FundsAvailableResult: { FundsAvailable: true } } } })

  const body = { Data: { ConsentId: consentId, Initiation: order.Data['Initiation'] }, Risk: order.Risk }
  const paid = await call(client, 'POST', '/domestic-payments', { token, body })
  t.match(paid, {
    status: 201,
    body: { Data: { Status: 'ACSC', Refund: { Account: { Identification: '20000011112222' } } } },
  })
  const shown = await call(client, 'GET', `/domestic-payments/${String(paid.body['Data'].DomesticPaymentId)}`)
  t.match(shown, { status: 200, body: { Data: { Status: 'ACSC', ConsentId: consentId } } })

  const books = await bank.books()
  t.match(books.payments, [{ status: 'ACSC', amount: '12.50', consentId }])
  t.equal(books.accounts[0]?.balance, '4987.5000')
})
