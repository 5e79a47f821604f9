import { randomUUID } from 'node:crypto'
import t from 'tap'
import { payMandates } from '../../../src/payments/mandates/pay-mandates.ts'
import { settlePayments } from '../../../src/payments/settle-payments.ts'
import { testService, untilStatus } from '../../support/app.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { authorisedMandate, passMandate, payUnder } from '../../support/mandates.ts'
import {
  bookingsOf,
  eventsOf,
  movesOf,
  refund,
  stateOf,
  tally,
  times,
  webhooksOf,
  webhookTypesOf,
} from '../../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()
const { app, owner } = service

async function bringOn(): Promise<void> {
  await payMandates(app)
  await settlePayments(app)
}

t.test('a mandate is set up with its first payment, and later ones settle without the payer', async (t) => {
  const { consentId, paymentId } = await authorisedMandate(service, merchant, {
    remittance_reference: 'Gym',
    payer_name: 'Ada',
  })
  await settlePayments(app)
  t.same(await stateOf(service, paymentId), { payment: 'Settled', consent: 'AUTHORISED', failure: null })

  const made = await payUnder(service, merchant, { consentId, changes: { metadata: { month: '2' } } })
  t.match(made, {
    status: 201,
    headers: { location: `/api/v1/payments/${made.body.payment_id}` },
    body: { status: 'Initiated', redirect_url: null, consent_id: consentId, gross_amount: '10.00', fee_amount: '0.30' },
  })
  const id = made.body.payment_id
  t.same(await webhookTypesOf(service, id), [], 'nothing is announced before the bank knows')
  await bringOn()
  const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
  t.match(body, {
    status: 'Settled',
    consent_type: 'VARIABLE_RECURRING',
    consent_status: 'AUTHORISED',
    redirect_uri: null,
    redirect_url: null,
    remittance_reference: 'Gym',
    payer_name: 'Ada',
    metadata: { month: '2' },
    failure: null,
  })
  t.same(
    (await eventsOf(service, id)).map(({ previous_status, new_status, changed_by }) => [
      previous_status,
      new_status,
      changed_by,
    ]),
    [
      [null, 'Initiated', 'MERCHANT_API'],
      ['Initiated', 'AwaitingAuthorisation', 'BATCH_JOB'],
      ['AwaitingAuthorisation', 'Authorised', 'BATCH_JOB'],
      ['Authorised', 'Settled', 'BATCH_JOB'],
    ],
  )
  t.match((await eventsOf(service, id))[2]?.raw_payload, /"job":"pay-mandates"/)
  const webhooks = await webhooksOf(service, id)
  t.same(
    webhooks.map(({ event_type, sequence, payload }) => [event_type, sequence, payload.data.previousStatus]),
    [
      ['payment.initiated', 1, 'INITIATED'],
      ['payment.authorized', 2, 'AWAITING_AUTHORISATION'],
      ['payment.settled', 3, 'AUTHORISED'],
    ],
  )
  t.equal(webhooks[0]?.payload.data.consentId, consentId)
  t.same(await bookingsOf(service, id), { debits: ['10.0000'], credits: [] })
  const list = await service.call('GET', '/api/v1/payments', { merchant })
  t.match(list.body.data, [{ payment_id: id, redirect_uri: null }, { payment_id: paymentId }])

  t.match(await refund(service, merchant, { id, body: { amount: '4.00' } }), { status: 200 })
  t.match(await refund(service, merchant, { id }), { status: 200, body: { status: 'Refunded' } })
  t.same(await bookingsOf(service, id), { debits: ['10.0000'], credits: ['4.0000', '6.0000'] })
  t.equal((await stateOf(service, id)).consent, 'AUTHORISED')
  t.same(await brokenInvariants(owner), [])
})

t.test('later payments debit the account that the payer chose for the first', async (t) => {
  const { consentId, paymentId } = await authorisedMandate(service, merchant)
  const made = await payUnder(service, merchant, { consentId })
  await bringOn()
  const { rows } = await owner.query(
    'select d.debtor_account_id, d.creditor_account_id from mock_bank.bank_debits d where payment_id = any ($1)',
    [[paymentId, made.body.payment_id]],
  )
  t.equal(rows.length, 2)
  t.same(rows[0], rows[1])
})

t.test('a payment has its own remittance reference', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant, { remittance_reference: 'Gym' })
  const { body } = await payUnder(service, merchant, { consentId, changes: { remittance_reference: 'Gym extra' } })
  await bringOn()
  const { rows } = await owner.query(
    'select remittance_reference from mock_bank.authorisations where end_to_end_id = $1',
    [body.end_to_end_id],
  )
  t.same(rows, [{ remittance_reference: 'Gym extra' }])
  const read = await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })
  t.equal(read.body.remittance_reference, 'Gym extra')
  const ledger = await service.call('GET', `/api/v1/portal/transactions/${body.payment_id}`, { merchant })
  t.equal(ledger.body.remittance_reference, 'Gym extra')
  const changes = { remittance_reference: String(body.end_to_end_id).slice(0, 18) }
  t.match(await payUnder(service, merchant, { consentId, changes }), {
    status: 400,
    body: { errors: [{ path: 'remittance_reference' }] },
  })
})

t.test("a payment's own scenario decides its rejection, and leaves the mandate unchanged", async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const endings: Record<string, [string, string | null, string[]]> = {
    success: ['Settled', null, ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled']],
    'never-returns': ['Settled', null, ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled']],
    'limit-exceeded': ['Failed', 'LIMIT_EXCEEDED', ['Initiated', 'AwaitingAuthorisation', 'Failed']],
    'payer-cancels': ['Failed', 'ACCESS_DENIED', ['Initiated', 'AwaitingAuthorisation', 'Failed']],
    'insufficient-funds': [
      'Failed',
      'INSUFFICIENT_FUNDS',
      ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Failed'],
    ],
  }
  for (const [scenario, [payment, failure, moves]] of Object.entries(endings)) {
    const { body } = await payUnder(service, merchant, { consentId, changes: { scenario } })
    await bringOn()
    t.same(await stateOf(service, body.payment_id), { payment, consent: 'AUTHORISED', failure }, scenario)
    t.same(await movesOf(service, body.payment_id), moves, scenario)
  }
  t.match(await payUnder(service, merchant, { consentId, changes: { scenario: 'no-such' } }), {
    status: 400,
    body: { errors: [{ path: 'scenario' }] },
  })
  t.same(await brokenInvariants(owner), [])
})

t.test("without its own scenario a payment follows its mandate's bank", async (t) => {
  const { consentId } = await authorisedMandate(service, merchant, { debtor_bank_id: 'mock-empty' })
  const { body } = await payUnder(service, merchant, { consentId })
  await bringOn()
  t.equal((await stateOf(service, body.payment_id)).failure, 'INSUFFICIENT_FUNDS')
})

t.test("a repeat returns the same payment, whatever the mandate's status; another body is rejected", async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const key = randomUUID()
  const first = await payUnder(service, merchant, { consentId, key })
  const repeat = await payUnder(service, merchant, { consentId, key })
  t.equal(repeat.status, 200)
  t.equal(repeat.text, first.text)
  t.match(await payUnder(service, merchant, { consentId, key, changes: { amount: '10.01' } }), {
    status: 422,
    body: { code: 'IDEMPOTENCY_KEY_REUSED' },
  })
  await bringOn()
  await passMandate(service, consentId)
  t.match(await payUnder(service, merchant, { consentId, key }), {
    status: 200,
    body: { payment_id: first.body.payment_id, status: 'Settled' },
  })
  t.match(await payUnder(service, merchant, { consentId }), { status: 409, body: { code: 'MANDATE_NOT_USABLE' } })
  t.match(await payUnder(service, merchant, { consentId: randomUUID(), key }), { status: 422 }, 'of another mandate')
})

t.test('50 concurrent repeats create one payment', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const key = randomUUID()
  const answers = await times(50, () => payUnder(service, merchant, { consentId, key }))
  t.same(tally(answers.map(({ status }) => status)), { '200': 49, '201': 1 })
  t.equal(new Set(answers.map(({ body }) => body.payment_id)).size, 1)
})

t.test('a running worker settles a payment without further calls', async (t) => {
  const running = await testService(t, { worker: true })
  const own = await running.merchant()
  const { consentId } = await authorisedMandate(running, own)
  const { body } = await payUnder(running, own, { consentId })
  t.ok(await untilStatus(running, own, body.payment_id, 'Settled'))
})
