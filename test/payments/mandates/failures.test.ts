import { randomUUID } from 'node:crypto'
import t from 'tap'
import { payMandates } from '../../../src/payments/mandates/pay-mandates.ts'
import { expireConsents } from '../../../src/payments/expire-consents.ts'
import { stagePayments } from '../../../src/payments/stage-payments.ts'
import { createPayment, testService } from '../../support/app.ts'
import { authorisedMandate, mandateBody, passMandate, payUnder } from '../../support/mandates.ts'
import { completeSca, endConsent, stateOf, webhookTypesOf } from '../../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()
const { app, owner } = service

t.test('a payment without a usable mandate is rejected, and nothing is stored', async (t) => {
  const stranger = await service.merchant()
  const { consentId } = await authorisedMandate(service, merchant)
  const single = await createPayment(service, merchant)
  const waiting = await createPayment(service, merchant, mandateBody())
  const before = await owner.query('select count(*) from payment_intents')
  const refusals: [string, Promise<{ status: number; body: unknown }>, number, unknown][] = [
    ['another merchant', payUnder(service, stranger, { consentId }), 404, { code: 'CONSENT_NOT_FOUND' }],
    ['unknown', payUnder(service, merchant, { consentId: randomUUID() }), 404, { code: 'CONSENT_NOT_FOUND' }],
    ['no UUID', payUnder(service, merchant, { consentId: "x' or true" }), 404, { code: 'CONSENT_NOT_FOUND' }],
    [
      'a single payment',
      payUnder(service, merchant, { consentId: single.body.consent_id }),
      409,
      { code: 'MANDATE_NOT_USABLE', error: /single payment/ },
    ],
    [
      'not authorised',
      payUnder(service, merchant, { consentId: waiting.body.consent_id }),
      409,
      { code: 'MANDATE_NOT_USABLE', error: /AWAITING_AUTHORISATION/ },
    ],
    [
      'another currency',
      payUnder(service, merchant, { consentId, changes: { currency: 'EUR' } }),
      400,
      { errors: [{ path: 'currency' }] },
    ],
    [
      'nothing',
      payUnder(service, merchant, { consentId, changes: { amount: '0.00' } }),
      400,
      { errors: [{ path: 'amount' }] },
    ],
    [
      'below the fee',
      payUnder(service, merchant, { consentId, changes: { amount: '0.10' } }),
      400,
      { code: 'AMOUNT_BELOW_FEE' },
    ],
    [
      "the mandate's own",
      payUnder(service, merchant, {
        consentId,
        changes: { redirect_uri: 'https://shop.example/return', payer_name: 'Eve', debtor_bank_id: 'mock' },
      }),
      400,
      { errors: [{ path: 'redirect_uri' }, { path: 'payer_name' }, { path: 'debtor_bank_id' }] },
    ],
  ]
  for (const [name, asked, status, body] of refusals) t.match(await asked, { status, body }, name)
  t.same((await owner.query('select count(*) from payment_intents')).rows, before.rows)
})

t.test('the checks of any payment apply to one under a mandate', async (t) => {
  const own = await service.merchant()
  const { consentId } = await authorisedMandate(service, own)
  const gates = [
    [
      `payout_held = true, payout_held_at = now(), payout_held_by = 'ada'`,
      'PAYOUT_HELD',
      'payout_held = false, payout_held_at = null, payout_held_by = null',
    ],
    [`kyb_status = 'SUSPENDED'`, 'MERCHANT_NOT_APPROVED', `kyb_status = 'APPROVED'`],
    ['is_active = false', 'MERCHANT_INACTIVE', 'is_active = true'],
  ] as const
  for (const [set, code, unset] of gates) {
    await owner.query(`update merchants set ${set} where id = $1`, [own.id])
    t.match(await payUnder(service, own, { consentId }), { status: 403, body: { code } })
    await owner.query(`update merchants set ${unset} where id = $1`, [own.id])
  }
  t.match(await payUnder(service, own, { consentId }), { status: 201 })
})

t.test('a payment whose mandate ends before the bank has it fails, and no other job changes it', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { body } = await payUnder(service, merchant, { consentId })
  await owner.query(`update payment_intents set created_at = created_at - interval '1 hour' where id = $1`, [
    body.payment_id,
  ])
  await passMandate(service, consentId)
  await stagePayments(app)
  await expireConsents(app)
  const read = await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })
  t.equal(read.body.status, 'Initiated', 'reading it does not end it either')
  await payMandates(app)
  t.match(await stateOf(service, body.payment_id), { payment: 'Failed', failure: 'CONSENT_EXPIRED' })
  t.same(await webhookTypesOf(service, body.payment_id), ['payment.failed'])
})

t.test("a payment under a mandate can't be authorised, denied or cancelled by callers", async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { body } = await payUnder(service, merchant, { consentId })
  const { rows } = await owner.query('select bank_consent_id as state from payment_intents where id = $1', [
    body.payment_id,
  ])
  const state = String(rows[0].state)
  const cancel = () => service.call('POST', `/api/v1/payments/${body.payment_id}/cancel`, { merchant })
  t.match(await cancel(), {
    status: 409,
    body: { code: 'PAYMENT_NOT_CANCELLABLE', current: { status: 'Initiated' } },
  })
  await owner.query(`update payment_intents set status = 'AwaitingAuthorisation' where id = $1`, [body.payment_id])
  t.match(await cancel(), {
    status: 409,
    body: { code: 'PAYMENT_NOT_CANCELLABLE', current: { status: 'AwaitingAuthorisation' } },
  })
  await completeSca(service, body.payment_id, { state, error: 'access_denied' })
  t.same(await stateOf(service, body.payment_id), {
    payment: 'AwaitingAuthorisation',
    consent: 'AUTHORISED',
    failure: null,
  })
  t.match(
    await service.call('GET', `/api/v1/payments/${body.payment_id}`, { headers: { 'x-payment-state': state } }),
    { status: 404 },
    'its state is no capability: no payer was given it',
  )
})

t.test("the payer's state of the first payment expires long before the mandate", async (t) => {
  const { body } = await createPayment(service, merchant, mandateBody())
  const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
  const look = () =>
    service.call('GET', `/api/v1/payments/${body.payment_id}`, { headers: { 'x-payment-state': state } })
  t.equal((await look()).status, 200)
  await owner.query(`update payment_consents set status = 'AUTHORISED', expires_at = valid_to where id = $1`, [
    body.consent_id,
  ])
  t.equal((await look()).status, 200)
  await owner.query(`update payment_intents set created_at = created_at - interval '24 hours' where id = $1`, [
    body.payment_id,
  ])
  t.equal((await look()).status, 200, 'an hour after the first day')
  await owner.query(`update payment_intents set created_at = created_at - interval '61 minutes' where id = $1`, [
    body.payment_id,
  ])
  t.equal((await look()).status, 404)
})

t.test('a mandate that its payer does not authorise expires like any consent', async (t) => {
  const { body } = await createPayment(service, merchant, mandateBody())
  await endConsent(service, body.payment_id)
  await expireConsents(app)
  t.same(await stateOf(service, body.payment_id), { payment: 'Failed', consent: 'EXPIRED', failure: 'CONSENT_EXPIRED' })
  t.match(await payUnder(service, merchant, { consentId: body.consent_id }), {
    status: 409,
    body: { code: 'MANDATE_NOT_USABLE', error: /EXPIRED/ },
  })
})
