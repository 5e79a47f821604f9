import { randomUUID } from 'node:crypto'
import t from 'tap'
import { authorisedPayment, createPayment, testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { comparable, signIn } from '../support/payers.ts'
import type { Session } from '../support/payers.ts'

const service = await testService(t)
const merchant = await service.merchant()

const CAPS = { max_amount_per_payment: '60.00', periodic_limits: [{ period: 'MONTH', max_amount: '200.00' }] }
const PATH = '/api/v1/payer/consents'

const payer = (name: string): { email: string } => ({ email: `${name}@payer.example` })
const list = (headers: Session): Promise<Answer> => service.call('GET', PATH, { headers })
const cancel = (id: string, headers: Session): Promise<Answer> => service.call('DELETE', `${PATH}/${id}`, { headers })

/** Creates a mandate that its payer has authorised, and returns the ids of the consent and of its first payment. */
async function mandateOf(
  { email }: { email: string },
  changes: Record<string, unknown> = {},
  of: TestMerchant = merchant,
): Promise<{ consent: string; payment: string }> {
  const { id } = await authorisedPayment(service, of, {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: CAPS,
    payer_email: email,
    ...changes,
  })
  return { consent: await consentOf(id), payment: id }
}

async function consentOf(payment: string): Promise<string> {
  const { rows } = await service.owner.query('select consent_id from payment_intents where id = $1', [payment])
  return rows[0].consent_id
}

t.test('a payer sees active mandates with the remaining amounts of their caps', async (t) => {
  const ada = payer('ada')
  const { consent } = await mandateOf(ada, { remittance_reference: 'GYM 17', debtor_bank_id: 'mock-fern' })
  const other = await service.merchant()
  const second = await mandateOf(ada, {}, other)
  const headers = await signIn(service, ada)
  const { status, body, text } = await list(headers)
  t.equal(status, 200)
  const ids = body.data.map(({ consent_id }: { consent_id: string }) => consent_id)
  t.same(ids, [second.consent, consent])
  t.match(body.data[1], {
    status: 'AUTHORISED',
    merchant_name: 'Acme',
    currency: 'GBP',
    max_amount_per_payment: '60.00',
    allowances: [{ period: 'MONTH', max_amount: '200.00', used_amount: '50.00', remaining_amount: '150.00' }],
    caps_enforced: false,
    remittance_reference: 'GYM 17',
    bank_name: 'Fern',
    payment_count: 1,
  })
  for (const hidden of ['payer.example', merchant.id, merchant.clientId]) t.notOk(text.includes(hidden), hidden)
})

t.test('mandates that are not active are not listed', async (t) => {
  const ada = payer('inactive')
  await authorisedPayment(service, merchant, { payer_email: ada.email })
  await createPayment(service, merchant, {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: CAPS,
    payer_email: ada.email,
  })
  const over = await mandateOf(ada)
  await service.owner.query(`update payment_consents set expires_at = now() - interval '1 second' where id = $1`, [
    over.consent,
  ])
  t.same((await list(await signIn(service, ada))).body, { data: [] })
})

t.test('a payer ends a mandate, its merchant gets a webhook, and a repeat has the same result', async (t) => {
  const ada = payer('cancel')
  const { consent, payment } = await mandateOf(ada)
  const headers = await signIn(service, ada)
  const ended = await cancel(consent, headers)
  t.same([ended.status, ended.body], [200, { consent_id: consent, status: 'REVOKED' }])
  t.same((await cancel(consent, headers)).body, ended.body)
  t.same((await list(headers)).body.data, [])
  const told = await service.call('GET', `/api/v1/portal/consents/${consent}`, { merchant })
  t.match(told.body, { consent_id: consent, status: 'REVOKED' })
  const { rows } = await service.owner.query(
    `select payload::json -> 'data' ->> 'revokedBy' as by from webhook_deliveries
     where merchant_id = $1 and event_type = 'consent.revoked' and payload::json -> 'data' ->> 'id' = $2`,
    [merchant.id, consent],
  )
  t.same(rows, [{ by: 'PAYER' }], 'once')
  const later = await createPayment(service, merchant, { consent_id: consent, redirect_uri: undefined })
  t.match(later, { status: 409, body: { code: 'MANDATE_NOT_USABLE' } })
  const receipt = await service.call('GET', `/api/v1/payer/payments/${payment}`, { headers })
  t.match(receipt.body, { payment_id: payment, is_recurring: true }, 'what was paid stays')
})

t.test("payments under a mandate are listed among the payer's payments", async (t) => {
  const ada = payer('under')
  const { consent, payment } = await mandateOf(ada)
  const later = await createPayment(service, merchant, {
    consent_id: consent,
    redirect_uri: undefined,
    amount: '12.00',
  })
  t.equal(later.status, 201)
  const headers = await signIn(service, ada)
  const { body } = await service.call('GET', '/api/v1/payer/payments', { headers })
  const ids = body.data.map(({ payment_id }: { payment_id: string }) => payment_id)
  t.same(ids, [later.body.payment_id, payment])
  t.match((await list(headers)).body.data, [{ consent_id: consent, payment_count: 2 }])
})

t.test("another payer's mandate is not found", async (t) => {
  const [ada, eve] = [payer('ada.own'), payer('eve')]
  const { consent } = await mandateOf(ada)
  await mandateOf(eve)
  const headers = await signIn(service, eve)
  const unknown = comparable(await cancel(randomUUID(), headers))
  t.match(unknown, { status: 404, body: { code: 'CONSENT_NOT_FOUND' } })
  t.same(comparable(await cancel(consent, headers)), unknown)
  t.same(comparable(await cancel(consent.toUpperCase(), headers)), unknown)
  t.same(comparable(await cancel('no-id', headers)), unknown)
  t.equal((await list(await signIn(service, ada))).body.data.length, 1, 'it lives on')
})

t.test("a mandate that can't be ended returns the reason, only to its own payer", async (t) => {
  const ada = payer('single')
  const { id } = await authorisedPayment(service, merchant, { payer_email: ada.email })
  const consent = await consentOf(id)
  const refused = await cancel(consent, await signIn(service, ada))
  t.match(refused, { status: 409, body: { code: 'CONSENT_NOT_REVOCABLE' } })
  const eve = payer('eve.single')
  await authorisedPayment(service, merchant, { payer_email: eve.email })
  t.equal((await cancel(consent, await signIn(service, eve))).status, 404)
})
