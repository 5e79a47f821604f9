import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openDebtorAccount } from '../../src/consents/debtor-account.ts'
import { createPayment, paymentBody, testService } from '../support/app.ts'
import { eventsOf, stateOf, webhooksOf } from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()

t.test('a new payment returns its bank URL, its ids and its amounts', async (t) => {
  const { status, headers, body } = await createPayment(service, merchant)
  t.equal(status, 201)
  t.strictSame(Object.keys(body).toSorted(), [
    'consent_id',
    'created_at',
    'currency',
    'end_to_end_id',
    'expires_at',
    'fee_amount',
    'gross_amount',
    'net_amount',
    'payment_id',
    'redirect_url',
    'status',
  ])
  t.match(body, {
    status: 'AwaitingAuthorisation',
    gross_amount: '50.00',
    fee_amount: '0.70',
    net_amount: '49.30',
    currency: 'GBP',
  })
  t.match(body.end_to_end_id, /^[A-Z]{3}[0-9a-f]{32}$/)
  t.equal(headers['location'], `/api/v1/payments/${body.payment_id}`)
  t.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 90 * 60_000, 'a consent lives 90 minutes')
  const address = new URL(body.redirect_url)
  t.equal(address.pathname, '/redirect-stub')
  t.equal(address.searchParams.get('redirect_uri'), 'https://shop.example/return')
  t.match(address.searchParams.get('state'), /^[0-9a-z]{8}[\w-]{43}$/)
  t.ok(address.searchParams.get('consent'))
})

t.test(
  "a creation writes the consent, the first audit event with the request's body, and payment.initiated",
  async (t) => {
    const raw = '{ "currency":"GBP",  "amount": "50", "redirect_uri":"https://shop.example/return" }'
    const { body } = await service.call('POST', '/api/v1/payments', {
      merchant,
      raw,
      headers: { 'content-type': 'application/json', 'x-idempotency-key': randomUUID() },
    })
    t.same(await stateOf(service, body.payment_id), {
      payment: 'AwaitingAuthorisation',
      consent: 'AWAITING_AUTHORISATION',
      failure: null,
    })
    t.same(await eventsOf(service, body.payment_id), [
      { previous_status: null, new_status: 'AwaitingAuthorisation', changed_by: 'MERCHANT_API', raw_payload: raw },
    ])
    const webhooks = await webhooksOf(service, body.payment_id)
    t.match(webhooks, [
      {
        event_type: 'payment.initiated',
        sequence: 1,
        payload: { data: { status: 'AWAITING_AUTHORISATION', previousStatus: null } },
      },
    ])
    t.equal(webhooks.length, 1)
  },
)

t.test('payer context and metadata are stored with the payment', async (t) => {
  const context = {
    payer_name: 'Zoë O\'Neill "x"',
    remittance_reference: 'INV 1',
    debtor_bank_id: 'mock-"1"',
    metadata: { order: '17', note: 'a\nb' },
  }
  const account = { debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber', debtor_identification: '20000012345678' }
  const contact = { payer_email: 'zoe@example.com', payer_phone: '+447700900123' }
  const { body } = await createPayment(service, merchant, { ...context, ...account, ...contact })
  t.match((await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })).body, context)
  const { rows } = await service.owner.query(
    `select merchant_id, id as consent_id, debtor_account_scheme, debtor_identification, payer_email_hash, payer_phone_hash
     from payment_consents where id = $1`,
    [body.consent_id],
  )
  t.same(openDebtorAccount(service.app, rows[0]), {
    scheme: account.debtor_account_scheme,
    identification: account.debtor_identification,
  })
  t.match(rows, [
    {
      payer_email_hash: await service.app.lookupHash('EMAIL', contact.payer_email),
      payer_phone_hash: await service.app.lookupHash('PHONE', contact.payer_phone),
    },
  ])
  t.match(await webhooksOf(service, body.payment_id), [
    { payload: { data: { bankDetails: { providerId: 'mock-"1"' } } } },
  ])
})

t.test('a merchant that may not take payments gets the reason, and nothing is stored', async (t) => {
  const gates: { because: string; set: string; code: string }[] = [
    { because: 'KYB not begun', set: `kyb_status = 'PENDING'`, code: 'MERCHANT_NOT_APPROVED' },
    { because: 'suspended', set: `kyb_status = 'SUSPENDED'`, code: 'MERCHANT_NOT_APPROVED' },
    {
      because: 'payouts held',
      set: `payout_held = true, payout_held_at = now(), payout_held_by = 'an operator'`,
      code: 'PAYOUT_HELD',
    },
    { because: 'disabled', set: 'is_active = false', code: 'MERCHANT_INACTIVE' },
  ]
  for (const { because, set, code } of gates) {
    const gated = await service.merchant()
    await service.owner.query(`update merchants set ${set} where id = $1`, [gated.id])
    const { status, body } = await createPayment(service, gated)
    t.match({ status, code: body.code }, { status: 403, code }, because)
    const { rows } = await service.owner.query('select 1 from payment_consents where merchant_id = $1', [gated.id])
    t.equal(rows.length, 0, because)
  }
})

t.test("a payment is limited to its merchant's maximum amount and currencies", async (t) => {
  const small = await service.merchant()
  await service.owner.query(`update merchants set payment_amount_max = 100, currencies = '{GBP}' where id = $1`, [
    small.id,
  ])
  t.equal((await createPayment(service, small, { amount: '100.00' })).status, 201)
  const above = await createPayment(service, small, { amount: '100.01' })
  t.match(above, { status: 400, body: { code: 'VALIDATION_FAILED', error: /AM13/, errors: [{ path: 'amount' }] } })
  t.match(await createPayment(service, small, { currency: 'EUR' }), {
    status: 400,
    body: { code: 'UNSUPPORTED_CURRENCY' },
  })
  t.equal((await createPayment(service, merchant, { currency: 'EUR' })).status, 201)
  t.equal((await createPayment(service, merchant, { amount: '1000000.00' })).status, 201)
  t.match(await createPayment(service, merchant, { amount: '1000000.01' }), { status: 400, body: { error: /AM13/ } })
})

t.test('an amount that is not more than the fee is rejected', async (t) => {
  t.match(await createPayment(service, merchant, { amount: '0.20' }), {
    status: 400,
    body: { code: 'AMOUNT_BELOW_FEE', errors: [{ path: 'amount' }] },
  })
  t.match(await createPayment(service, merchant, { amount: '0.21' }), {
    status: 201,
    body: { fee_amount: '0.2021', net_amount: '0.0079' },
  })
})

t.test('a rejected payment does not affect others of the same batch', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      createPayment(service, merchant, { amount: index % 2 === 0 ? '50.00' : '0.01' }),
    ),
  )
  t.same(
    answers.map(({ status }) => status),
    answers.map((_, index) => (index % 2 === 0 ? 201 : 400)),
  )
})

t.test('for a merchant without an endpoint the webhook is stored until it has one', async (t) => {
  const { body } = await createPayment(service, merchant)
  const { rows } = await service.owner.query(
    'select status, next_retry_at::text as next_retry_at, attempt_count from webhook_deliveries where payment_intent_id = $1',
    [body.payment_id],
  )
  t.same(rows, [{ status: 'PENDING', next_retry_at: 'infinity', attempt_count: 0 }])
})

t.test('a request without the X-Idempotency-Key header is rejected before any other check', async (t) => {
  const answer = await service.call('POST', '/api/v1/payments', { merchant, body: paymentBody() })
  t.match(answer, { status: 400, body: { code: 'IDEMPOTENCY_KEY_MISSING' } })
})
