import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { atBank, createPayment } from './app.ts'
import type { TestMerchant, TestService } from './app.ts'
import { OPERATOR, raiseAsPayer, resolve, submitEvidence } from './disputes.ts'
import { endMandate, mandateBody, payUnder } from './mandates.ts'
import { PAYMENTS, byNumber, orderBody } from './orders.ts'
import { completeSca, refund } from './payments.ts'

/** A merchant of the sandbox, made under this reference. */
export async function makeMerchant(service: TestService, reference?: string): Promise<TestMerchant> {
  const body = { name: 'Acme Ltd', ...(reference === undefined ? {} : { reference }) }
  const made = await service.call('POST', '/api/v1/sandbox/merchants', { headers: OPERATOR, body })
  const { merchant_id: id, client_id: clientId, realm_slug: realm } = made.body
  return { id, clientId, realm, clientSecret: '', secret: made.body.webhook_signing_secret }
}

/** A customer of the bank as the sandbox answers it. */
export async function makeCustomer({ call }: TestService, reference?: string) {
  const body = { name: 'Grace', ...(reference === undefined ? {} : { reference }) }
  return (await call('POST', '/api/v1/sandbox/customers', { headers: OPERATOR, body })).body
}

/** Creates a payment under this key, lets the payer authorise it, and settles it. */
export async function settled(
  service: TestService,
  merchant: TestMerchant,
  key: string,
  changes = {},
): Promise<string> {
  const { body } = await createPayment(service, merchant, changes, key)
  await completeSca(service, body.payment_id, await atBank(body.redirect_url, 'approve'))
  await settlePayments(service.app)
  return body.payment_id
}

/** A payment in each of the ways that the service has, with what may follow it. */
export async function play(service: TestService): Promise<void> {
  const merchant = await makeMerchant(service, 'shop')
  const grace = await makeCustomer(service, 'grace')
  const { SchemeName: debtor_account_scheme, Identification: debtor_identification } =
    grace.accounts[0].identifications[0]
  const keys = Array.from({ length: 8 }, (_, index) => `order-${index}`)
  await Promise.all(keys.map((key) => createPayment(service, merchant, {}, key)))
  const refunded = await settled(service, merchant, 'order-0')
  await refund(service, merchant, { id: refunded, body: { amount: '10.00' }, key: 'part' })
  await refund(service, merchant, { id: refunded, key: 'rest' })
  const disputed = await settled(service, merchant, 'disputed', { debtor_account_scheme, debtor_identification })
  const dispute = await raiseAsPayer(service, disputed)
  await submitEvidence(service, merchant, dispute.body.id)
  await resolve(service, dispute.body.id, { refund: true })
  await resumeRefunds(service.app)
  await settled(service, merchant, 'mandate', mandateBody())
  const { rows } = await service.owner.query(`select consent_id from payment_intents where idempotency_key = 'mandate'`)
  await payUnder(service, merchant, { consentId: rows[0].consent_id, key: 'month-2' })
  await endMandate(service, merchant, rows[0].consent_id)
  await order(service, grace.customer_id)
}

/** Orders a payment under one key, always the same. */
export function order(service: TestService, customerId: string) {
  const headers = { 'x-customer-id': customerId, 'x-idempotency-key': 'rent' }
  return service.call('POST', PAYMENTS, { headers, body: orderBody({ CreditorAccount: byNumber('20000055779911') }) })
}

const IDS = `
  select 'merchant' as what, array[id::text, realm_slug, client_id] as ids from merchants where realm_slug like 'sandbox-%'
  union all select 'customer', array[id::text, external_customer_id] from customers
  union all select 'account', array[id::text, sort_code_account_number] from accounts
  union all select 'payment', array[idempotency_key, id::text, consent_id::text, end_to_end_id, bank_consent_id] from payment_intents
  union all select 'change', array[new_status::text, id::text] from payment_events
  union all select 'webhook', array[event_type, sequence::text, id::text, event_id] from webhook_deliveries
  union all select 'refund', array[id::text] from payment_refunds
  union all select 'dispute', array[id::text] from disputes
  union all select 'at the bank', array[state, consent_reference, code, bank_reference] from mock_bank.authorisations
  union all select 'given back', array[bank_reference] from mock_bank.bank_credits
  union all select 'order', array[id::text] from payment_orders
  union all select 'transfer', array[id::text] from transfers
`

type Row = { what: string; ids: (string | null)[] }

/** All ids and names that the story left, a line for each row. */
export async function idsOf({ owner }: TestService): Promise<string[]> {
  const { rows } = await owner.query<Row>(IDS)
  return rows.map(({ what, ids }) => [what, ...ids].join(' ')).toSorted()
}
