import type { App } from '../app.ts'
import { debtorAccountOf } from '../banks/connector.ts'
import type { BankConnector, ConsentRequest } from '../banks/connector.ts'
import { sealDebtorAccount } from '../consents/debtor-account.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { parseAmount, toNumeric } from '../lib/money.ts'
import { normaliseEmail, normalisePhone } from '../lib/payer-contact.ts'
import { redactPayload } from '../lib/redact-payload.ts'
import { currentTraceparent } from '../lib/trace.ts'
import { webAddressProblem } from '../lib/web-address.ts'
import type { CreatePayment } from '../wire/new-payment.ts'
import { checkAmount, checkScenario, createdPayment, createWithRetries } from './creation-rules.ts'
import type { CreatePaymentInput, CreatePaymentResult } from './creation-rules.ts'
import type { NewPaymentItem } from './record.ts'
import { announceMove } from './move.ts'
import { readNewMandate } from './mandates/new-mandate.ts'
import type { NewMandate } from './mandates/new-mandate.ts'
import { createPaymentUnderMandate } from './mandates/create-payment-under-mandate.ts'
import { findBankOfKey } from './sql.ts'
import { stagePayment } from './stage-payments.ts'
import { PAYMENT_TRANSITIONS } from './states.ts'

/**
 * Creates a payment, its consent, its first audit event and its first webhook in one transaction, or returns the payment
 * that an earlier request with the same key created (contract §Payments (merchant); decisions 14, 17 and 33).
 * @throws {DomainError} VALIDATION_FAILED, UNSUPPORTED_CURRENCY, AMOUNT_BELOW_FEE, MERCHANT_NOT_APPROVED,
 *   MERCHANT_INACTIVE, PAYOUT_HELD, IDEMPOTENCY_KEY_MISSING, IDEMPOTENCY_KEY_REUSED, BANK_UNAVAILABLE,
 *   BANK_NOT_CONFIGURED
 */
export async function createPayment(app: App, input: CreatePaymentInput): Promise<CreatePaymentResult> {
  const { idempotencyKey } = input
  if (idempotencyKey === undefined) {
    throw new DomainError('IDEMPOTENCY_KEY_MISSING', 'the header X-Idempotency-Key is missing', {
      errors: [{ path: 'X-Idempotency-Key', code: 'REQUIRED', message: 'is required' }],
      next: 'send a new UUID with every new payment, and the same one when you repeat a request',
    })
  }
  if (input.body.consent_id !== undefined)
    return createPaymentUnderMandate(app, { ...input, idempotencyKey, consentId: input.body.consent_id })
  checkBody(app, input.body)
  const mandate = await readNewMandate(app, { merchantId: input.merchant.id, idempotencyKey, body: input.body })
  const bank = await bankOfPayment(app, { ...input, idempotencyKey })
  const hashes = await hashesOf(app, input.body)
  const item = newPaymentItem(app, { ...input, idempotencyKey, mandate, bank, hashes })
  const outcome = await createWithRetries(item, () => app.batches.create.run(item))
  if (outcome.outcome === 'CREATED') announceMove(app, creationTransition(bank), item.payment_id)
  const payment = await createdPayment(app, outcome, input)
  // A dry run asks no remote bank: its payment is shown as it is before it is staged.
  if (payment.status !== 'Initiated' || !app.banks.has(bank.id))
    return { created: outcome.outcome === 'CREATED', payment }
  const staged = await stagePayment(app, {
    merchantId: input.merchant.id,
    id: payment.payment_id,
    rawBody: input.rawBody,
  })
  return { created: outcome.outcome === 'CREATED', payment: { ...payment, ...staged } }
}

/**
 * The bank of a new payment. A repeat goes to the bank of its payment, whatever banks there are by now (decision 14).
 * @throws {DomainError} as `connectorFor` does, where no payment has this key
 */
async function bankOfPayment(
  app: App,
  { merchant, idempotencyKey, body }: CreatePaymentInput & { idempotencyKey: string },
): Promise<StagingBank> {
  try {
    const chosen = app.catalogue.connectorFor(body.debtor_bank_id)
    // In a dry run the mock bank keeps its books in the transaction.
    return app.banks.get(chosen.id) ?? chosen
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const first = await findBankOfKey(app.pool, { merchantId: merchant.id, idempotencyKey })
    if (first === null) throw error
    return app.banks.get(first) ?? { id: first, staging: 'remote' }
  }
}

function checkBody(app: App, body: CreatePayment): void {
  const problem = webAddressProblem(body.redirect_uri ?? '', { allowLoopbackHttp: app.config.mode === 'sandbox' })
  if (problem !== undefined) throw invalidField('redirect_uri', 'INVALID_URL', problem)
  checkScenario(app, body)
  checkAmount(body)
}

/** What a new payment needs of its bank. */
type StagingBank = Extract<BankConnector, { staging: 'local' }> | { readonly id: string; readonly staging: 'remote' }

type NewPaymentInput = CreatePaymentInput & {
  idempotencyKey: string
  mandate: NewMandate | undefined
  bank: StagingBank
  hashes: Awaited<ReturnType<typeof hashesOf>>
}

function newPaymentItem(app: App, input: NewPaymentInput): NewPaymentItem {
  const { merchant, body, mandate, bank } = input
  const amount = toNumeric(parseAmount(body.amount))
  const random = app.ids.for('payment', merchant.id, input.idempotencyKey)
  const ids = {
    payment_id: random.uuid(),
    consent_id: random.uuid(),
    end_to_end_id: random.endToEndId(),
    bank_consent_id: random.state(),
    bank_connector: bank.id,
  }
  const creation = creationTransition(bank)
  const staged =
    bank.staging === 'local' ? bank.stage(consentRequest({ ...ids, merchant, body, amount, mandate })) : undefined
  return {
    ...ids,
    ...input.hashes,
    ...sealDebtorAccount(
      app,
      { scheme: body.debtor_account_scheme, identification: body.debtor_identification },
      { merchantId: merchant.id, consentId: ids.consent_id },
    ),
    payer_name: body.payer_name,
    remittance_reference: body.remittance_reference,
    debtor_bank_id: body.debtor_bank_id,
    consent_type: body.consent_type,
    control_parameters: body.control_parameters,
    amount,
    currency: body.currency,
    redirect_uri: body.redirect_uri,
    metadata: body.metadata,
    merchant_id: merchant.id,
    audit_id: random.uuid(),
    delivery_id: random.uuid(),
    event_id: random.eventId(),
    event_type: creation.webhook,
    status: creation.to,
    changed_by: creation.actor,
    idempotency_key: input.idempotencyKey,
    raw_payload: redactPayload(input.rawBody),
    sandbox_scenario: body.scenario,
    checkout_token_hash: input.checkout?.hash,
    return_url: input.checkout?.returnUrl,
    order_id: input.checkout?.orderId,
    bank_consent_reference: staged?.bankConsentReference,
    redirect_url: staged?.redirectUrl,
    consent_seconds: mandate?.consentSeconds ?? app.config.consentSeconds,
    valid_to: mandate?.validTo,
    test: app.config.mode === 'sandbox',
    traceparent: currentTraceparent(),
  }
}

/**
 * Keyed hashes of the payer's contact in normal form, by which the payer finds the payment, and of the request as it was
 * sent, which a repeat must match.
 */
async function hashesOf({ lookupHash }: Pick<App, 'lookupHash'>, body: CreatePayment) {
  const { payer_email: email, payer_phone: phone } = body
  const amount = toNumeric(parseAmount(body.amount))
  return {
    payer_email_hash: email === undefined ? undefined : await lookupHash('EMAIL', normaliseEmail(email)),
    payer_phone_hash: phone === undefined ? undefined : await lookupHash('PHONE', normalisePhone(phone) ?? phone),
    request_fingerprint: await lookupHash('payment request', canonicalJson({ ...body, amount })),
  }
}

type ConsentRequestInput = {
  payment_id: string
  consent_id: string
  end_to_end_id: string
  bank_consent_id: string
  merchant: { id: string; tradingName: string }
  body: CreatePayment
  amount: string
  mandate: NewMandate | undefined
}

function consentRequest(input: ConsentRequestInput): ConsentRequest {
  return {
    paymentId: input.payment_id,
    consentId: input.consent_id,
    endToEndId: input.end_to_end_id,
    state: input.bank_consent_id,
    amount: input.amount,
    currency: input.body.currency,
    payeeId: input.merchant.id,
    payeeName: input.merchant.tradingName,
    redirectUri: input.body.redirect_uri ?? '',
    debtorBankId: input.body.debtor_bank_id,
    debtorAccount: debtorAccountOf(input.body),
    remittanceReference: input.body.remittance_reference,
    scenario: input.body.scenario,
    mandate: input.mandate?.request,
  }
}

/** With a remote bank, which must be asked to stage the consent, a payment begins as Initiated (decision 17). */
function creationTransition(bank: Pick<StagingBank, 'staging'>) {
  const on = bank.staging === 'local' ? 'creation' : 'creation at a remote bank'
  const creation = PAYMENT_TRANSITIONS.find((row) => row.from === null && row.on === on)
  if (creation === undefined) throw new Error(`PAYMENT_TRANSITIONS has no ${on}`)
  return creation
}
