import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openDebtorAccount } from '../../src/consents/debtor-account.ts'
import { createPayment, testService, untilStatus } from '../support/app.ts'
import { approve, plainToken, readCheckout, seenByPayer, startPayment, tokenStates } from '../support/checkout.ts'
import { eventsOf, webhookTypesOf } from '../support/payments.ts'
import { serviceWithRealms } from '../support/realms.ts'
import { steeredBank } from '../support/steered-bank.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()

t.test("a token's checkout is read and paid", async (t) => {
  const token = plainToken(service, merchant, { merchantName: '<b>Other</b>', amount: '50.0' })
  const { status, body } = await readCheckout(service, token)
  t.equal(status, 200)
  t.match(body, {
    mode: 'sandbox',
    merchant_name: 'Acme',
    merchant_client_id: merchant.clientId,
    amount: '50.00',
    currency: 'GBP',
    payer_name: null,
    remittance_reference: null,
    is_paid: false,
    is_fast_path: false,
    callback_origin: 'https://shop.example',
    return_url: 'https://shop.example/return',
    expires_at: null,
    branding: { warnings: [] },
  })
  const started = await startPayment(service, token, { debtor_bank_id: 'mock-albion' })
  t.match(started, { status: 201, body: { status: 'AwaitingAuthorisation', gross_amount: '50.00' } })
  const { payment_id: id, payment_state: state, redirect_url: redirectUrl } = started.body
  t.equal(new URL(redirectUrl).searchParams.get('redirect_uri'), `${service.app.publicUrl}/payments/return`)
  t.equal(new URL(redirectUrl).searchParams.get('state'), state)
  t.match(await seenByPayer(service, started), {
    status: 200,
    body: { payment_id: id, status: 'AwaitingAuthorisation' },
  })
  await approve(service, started)
  await untilStatus(service, merchant, id, 'Settled')
  t.match(await service.call('GET', '/api/v1/payments', { headers: { 'x-payment-state': state } }), { status: 401 })
})

t.test(
  "the payer's context is stored on the consent, and the token without its signature in the audit trail",
  async (t) => {
    const token = plainToken(service, merchant, {
      payerName: 'Ada Lovelace',
      debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber',
      debtorIdentification: '40400612345674',
      remittanceReference: ' Order 4711 ',
    })
    const { body } = await startPayment(service, token, { debtor_bank_id: 'mock-fern' })
    const { rows } = await service.owner.query(
      `select c.payer_name, c.merchant_id, c.id as consent_id, c.debtor_account_scheme::text, c.debtor_identification, c.remittance_reference, c.debtor_bank_id,
       p.return_url, p.redirect_uri, p.checkout_token_hash, p.idempotency_key
     from payment_intents p join payment_consents c on c.id = p.consent_id where p.id = $1`,
      [body.payment_id],
    )
    t.match(rows, [
      {
        payer_name: 'Ada Lovelace',
        remittance_reference: 'Order 4711',
        debtor_bank_id: 'mock-fern',
        return_url: 'https://shop.example/return',
        redirect_uri: `${service.app.publicUrl}/payments/return`,
        checkout_token_hash: /^[0-9a-f]{64}$/,
        idempotency_key: /^checkout:[0-9a-f]{64}:[0-9a-f]{64}$/,
      },
    ])
    t.match(openDebtorAccount(service.app, rows[0]), { identification: '40400612345674' })
    const [created] = await eventsOf(service, body.payment_id)
    t.match(created, { new_status: 'AwaitingAuthorisation', raw_payload: /"payerName":"\[redacted\]"/ })
    t.match(await webhookTypesOf(service, body.payment_id), ['payment.initiated'])
  },
)

t.test("a payer chooses the bank, but can't change the order", async (t) => {
  const token = plainToken(service, merchant)
  for (const more of [
    { amount: '0.01' },
    { currency: 'EUR' },
    { redirect_uri: 'https://evil.example/' },
    { payer_name: 'Mallory' },
    { payer_email: 'mallory@evil.example' },
    { metadata: { a: 'b' } },
    { consent_id: randomUUID() },
    { consent_type: 'VARIABLE_RECURRING' },
    { remittance_reference: 'x' },
  ]) {
    const answer = await startPayment(service, token, { debtor_bank_id: 'mock-albion', ...more })
    const errors = [{ path: Object.keys(more)[0], code: 'UNKNOWN_FIELD' }]
    t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED', errors } })
  }
  const unknown = await startPayment(service, token, { debtor_bank_id: 'mock-nowhere' })
  t.match(unknown, { status: 400, body: { errors: [{ path: 'debtor_bank_id', code: 'UNKNOWN_BANK' }] } })
  const scenario = await startPayment(service, token, { scenario: 'nonsense' })
  t.match(scenario, { status: 400, body: { errors: [{ path: 'scenario' }] } })
  const keyless = await service.call('POST', '/api/v1/payments', { headers: { 'x-checkout-token': token }, body: {} })
  t.match(keyless, { status: 400, body: { code: 'IDEMPOTENCY_KEY_MISSING' } })
  t.same(await tokenStates(service, await service.merchant()), {})
})

t.test('a repeat with the same key returns the same payment and its state', async (t) => {
  const token = plainToken(service, merchant)
  const key = 'k'.repeat(255)
  const first = await startPayment(service, token, { debtor_bank_id: 'mock-albion' }, key)
  const again = await startPayment(service, token, { debtor_bank_id: 'mock-albion' }, key)
  t.equal(first.status, 201)
  t.equal(again.status, 200)
  t.same(again.body, first.body)
  t.ok(again.body.payment_state)
  const other = await startPayment(service, token, { debtor_bank_id: 'mock-fern' }, key)
  t.match(other, { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
  t.match((await seenByPayer(service, first)).body, { status: 'AwaitingAuthorisation' }, 'and the first one stays')
})

t.test("a payer's key is separate from all other keys", async (t) => {
  const key = randomUUID()
  const one = await startPayment(service, plainToken(service, merchant), {}, key)
  const two = await startPayment(service, plainToken(service, merchant), {}, key)
  const own = await createPayment(service, merchant, {}, key)
  t.same([one.status, two.status, own.status], [201, 201, 201])
  t.equal(new Set([one, two, own].map(({ body }) => body.payment_id)).size, 3)
  t.not(one.body.payment_state, two.body.payment_state)
  const crossed = await service.call('GET', `/api/v1/payments/${two.body.payment_id}`, {
    headers: { 'x-payment-state': one.body.payment_state },
  })
  t.match(crossed, { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.notOk('payment_state' in own.body, 'and merchants are told no capability')
})

t.test('payers get a general message when the merchant may not take payments', async (t) => {
  const stops: [string, string][] = [
    ["kyb_status = 'PENDING'", 'MERCHANT_NOT_APPROVED'],
    ["kyb_status = 'SUSPENDED'", 'MERCHANT_NOT_APPROVED'],
    ["payout_held = true, payout_held_at = now(), payout_held_by = 'ada'", 'PAYOUT_HELD'],
    ['is_active = false', 'MERCHANT_INACTIVE'],
  ]
  for (const [change, code] of stops) {
    const shop = await service.merchant()
    await service.owner.query(`update merchants set ${change} where id = $1`, [shop.id])
    const answer = await startPayment(service, plainToken(service, shop))
    t.match(answer, { status: 403, body: { code, error: /^this shop can't take payments by bank/ } }, change)
    t.notMatch(`${answer.body.error} ${answer.body.next}`, /operator|hold|held|approve/i)
  }
  const cheap = await startPayment(service, plainToken(service, merchant, { amount: '0.10' }))
  t.match(cheap, { status: 400, body: { code: 'AMOUNT_BELOW_FEE' } })
  const large = await startPayment(service, plainToken(service, merchant, { amount: '9999999999999.99' }))
  t.match(large, { status: 400, body: { errors: [{ path: 'amount', code: 'TOO_LARGE' }] } })
  const shop = await service.merchant()
  await service.owner.query(`update merchants set currencies = '{GBP}' where id = $1`, [shop.id])
  const euro = await startPayment(service, plainToken(service, shop, { currency: 'EUR' }))
  t.match(euro, { status: 400, body: { code: 'UNSUPPORTED_CURRENCY' } })
})

t.test("one merchant's token gives no access to another's payments", async (t) => {
  const [mine, theirs] = [await service.merchant(), await service.merchant()]
  const token = plainToken(service, mine)
  const { body } = await startPayment(service, token)
  t.match(await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant: theirs }), { status: 404 })
  const shared = { jti: 'the-same', callbackOrigin: 'https://shop.example' }
  await startPayment(service, plainToken(service, mine, shared))
  t.match(await startPayment(service, plainToken(service, theirs, shared)), { status: 201 }, 'each has its own orders')
  const headers = { 'x-checkout-token': token }
  for (const path of [
    '/api/v1/payments',
    `/api/v1/payments/${body.payment_id}`,
    '/api/v1/whoami',
    '/api/v1/portal/team',
  ])
    t.match(await service.call('GET', path, { headers }), { status: 401, body: { code: 'UNAUTHENTICATED' } }, path)
  const refunded = await service.call('POST', `/api/v1/payments/${body.payment_id}/refund`, { headers, body: {} })
  t.match(refunded, { status: 401 }, 'nor is a payer the merchant')
})

t.test('with an identity provider a token needs no other credential, and a client id is none', async (t) => {
  const { service: closed } = await serviceWithRealms(t)
  const shop = await closed.merchant()
  const started = await startPayment(closed, plainToken(closed, shop), { debtor_bank_id: 'mock-albion' })
  t.match(started, { status: 201, body: { payment_state: /^[\w-]{51}$/ } })
  const headers = { 'x-merchant-client-id': shop.clientId, 'x-idempotency-key': randomUUID() }
  const body = { amount: '1.00', currency: 'GBP', redirect_uri: 'https://shop.example/' }
  const bare = await closed.call('POST', '/api/v1/payments', { headers, body })
  t.match(bare, { status: 401, body: { code: 'UNAUTHENTICATED' } })
  const bad = await closed.call('POST', '/api/v1/payments', { headers: { ...headers, 'x-checkout-token': 'x' }, body })
  t.match(bad, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } }, 'a bad token is not helped out by others')
})

t.test('a repeat at a bank that is no longer offered is answered, and nothing new is started there', async (t) => {
  const bank = steeredBank('remote', 'file', 'real-bank')
  let isOffered = true
  const own = await testService(t, {
    overrides: { configuredBanks: [{ connector: bank.connector, name: 'Real', isConfigured: () => isOffered }] },
  })
  bank.behind(own.app.mockBank)
  const token = plainToken(own, await own.merchant())
  const key = randomUUID()
  const first = await startPayment(own, token, { debtor_bank_id: 'real-bank' }, key)
  t.equal(first.status, 201)
  isOffered = false
  const repeated = await startPayment(own, token, { debtor_bank_id: 'real-bank' }, key)
  t.same([repeated.status, repeated.text], [200, first.text])
  t.match(await startPayment(own, token, { debtor_bank_id: 'real-bank' }), {
    status: 400,
    body: { errors: [{ path: 'debtor_bank_id', code: 'UNKNOWN_BANK' }] },
  })
})
