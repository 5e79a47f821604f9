import t from 'tap'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { REDIRECT_URI, decideAtBank, startTestBank } from '../support/model-bank.ts'
import {
  approvedToken,
  authoriseAddress,
  call,
  callToken,
  fetchJson,
  makeRegisteredClient,
  paymentConsent,
  paymentOrder,
  stage,
} from './client.ts'

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

t.test('the same bank speaks version 3.1 under its own address', async (t) => {
  const client = await makeRegisteredClient(await startTestBank(t))
  const version = 'v3.1'
  const order = paymentConsent({ RemittanceInformation: { Unstructured: 'Order 1', Reference: 'ORDER-1' } })
  order.Risk = { PaymentContextCode: 'EcommerceGoods' }
  const consentId = await stage(client, order, { version })
  const waiting = await call(client, 'GET', `/domestic-payment-consents/${consentId}`, { version })
  t.match(waiting, { status: 200, body: { Data: { Status: 'AwaitingAuthorisation' } } })
  const { access: token } = await approvedToken(client, consentId)
  const paid = await call(client, 'POST', '/domestic-payments', {
    version,
    token,
    body: paymentOrder(consentId, order),
  })
  t.match(paid, { status: 201, body: { Data: { Status: 'AcceptedSettlementCompleted' } } })
  const path = `/domestic-payments/${String(paid.body['Data'].DomesticPaymentId)}`
  const details = await call(client, 'GET', `${path}/payment-details`, { version })
  t.match(details, { body: { Data: { PaymentStatus: [{ Status: 'AcceptedSettlementCompleted' }] } } })
  const refused = await call(client, 'GET', '/domestic-payments/none', { version })
  t.match(refused, { status: 400, body: { Errors: [{ ErrorCode: 'UK.OBIE.Resource.NotFound' }] } })
  const v4Body = await call(client, 'POST', '/domestic-payment-consents', { version, body: paymentConsent() })
  t.match(v4Body, { status: 400 }, 'remittance information of version 4.0 is none of version 3.1')
})

t.test('a consent may name the account that is paid from', async (t) => {
  const client = await makeRegisteredClient(await startTestBank(t))
  const DebtorAccount = {
    SchemeName: 'UK.OBIE.SortCodeAccountNumber',
    Identification: '20000033334444',
    Name: 'A Payer',
  }
  const order = paymentConsent({ DebtorAccount })
  const consentId = await stage(client, order)
  const { access: token } = await approvedToken(client, consentId)
  const paid = await call(client, 'POST', '/domestic-payments', { token, body: paymentOrder(consentId, order) })
  t.match(paid, { status: 201, body: { Data: { Refund: { Account: { Identification: '20000033334444' } } } } })
})
