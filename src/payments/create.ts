import type { App } from '../app.ts'
import { debtorAccountOf } from '../banks/connector.ts'
import type { ConsentRequest } from '../banks/connector.ts'
import { parseScenario } from '../banks/scenarios.ts'
import { canonicalJson } from '../lib/canonical.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { fitsCurrency, isKnownCurrency, parseAmount, toNumeric } from '../lib/money.ts'
import { webAddressProblem } from '../lib/web-address.ts'
import type { CreatePayment, CreatedPayment } from '../wire/payments.ts'
import type { CreateOutcome, NewPaymentItem } from './record.ts'
import { announceMove } from './move.ts'
import { stagePayment } from './stage.ts'
import { PAYMENT_TRANSITIONS } from './states.ts'

export type CreatePaymentInput = {
  merchant: { id: string; tradingName: string }
  idempotencyKey: string | undefined
  /** The parsed request; a scenario given as a header stands in it. */
  body: CreatePayment
  /** The request's body as it came: the creation's audit event keeps it. */
  rawBody: string
}

export type CreatePaymentResult = { created: boolean; payment: CreatedPayment }

/** How often a payment that another transaction was just making is looked for again. */
const LOST_MAX = 3

/**
 * Creates a payment, its consent, its first audit event and its first webhook in one transaction, or answers the payment
 * that the same key made before (specification, Payments; decisions 14, 17 and 33).
 * @throws {DomainError} VALIDATION_FAILED, UNSUPPORTED_CURRENCY, AMOUNT_BELOW_FEE, MERCHANT_NOT_APPROVED,
 *   MERCHANT_INACTIVE, PAYOUT_HELD, IDEMPOTENCY_KEY_MISSING, IDEMPOTENCY_KEY_REUSED, BANK_UNAVAILABLE
 */
export async function createPayment(app: App, input: CreatePaymentInput): Promise<CreatePaymentResult> {
  const { idempotencyKey } = input
  if (idempotencyKey === undefined) {
    throw new DomainError('IDEMPOTENCY_KEY_MISSING', 'the header X-Idempotency-Key is missing', {
      errors: [{ path: 'X-Idempotency-Key', code: 'REQUIRED', message: 'is required' }],
      next: 'send a new UUID with every new payment, and the same one when you repeat a request',
    })
  }
  checkBody(app, input.body)
  const item = newPaymentItem(app, { ...input, idempotencyKey })
  const outcome = await runUntilKnown(app, item)
  if (outcome.outcome === 'CREATED') announceMove(app, creationOf(app), item.payment_id)
  const payment = createdPayment(outcome, input.body.currency)
  if (payment.status !== 'Initiated') return { created: outcome.outcome === 'CREATED', payment }
  const staged = await stagePayment(app, {
    merchantId: input.merchant.id,
    id: payment.payment_id,
    rawBody: input.rawBody,
  })
  return { created: outcome.outcome === 'CREATED', payment: { ...payment, ...staged } }
}

function checkBody(app: App, body: CreatePayment): void {
  const problem = webAddressProblem(body.redirect_uri, { allowLoopbackHttp: app.config.mode === 'sandbox' })
  if (problem !== undefined) throw invalidField('redirect_uri', 'INVALID_URL', problem)
  if (body.scenario !== undefined && app.config.mode !== 'sandbox') {
    throw invalidField('scenario', 'SANDBOX_ONLY', 'exists only in the sandbox; leave it out')
  }
  if (body.scenario !== undefined) parseScenario(body.scenario)
  if (!isKnownCurrency(body.currency)) throw unsupportedCurrency(body.currency)
  const amount = parseAmount(body.amount)
  if (amount === 0n) throw invalidField('amount', 'TOO_SMALL', 'must be at least 0.01')
  if (!fitsCurrency(amount, body.currency)) {
    throw invalidField('amount', 'TOO_PRECISE', `${body.currency} has no digits below its minor unit: they must be 0`)
  }
}

function newPaymentItem(app: App, input: CreatePaymentInput & { idempotencyKey: string }): NewPaymentItem {
  const { merchant, body } = input
  const amount = toNumeric(parseAmount(body.amount))
  const ids = {
    payment_id: app.ids.uuid(),
    consent_id: app.ids.uuid(),
    end_to_end_id: app.ids.endToEndId(),
    bank_consent_id: app.ids.token(),
    bank_connector: app.bank.id,
  }
  const creation = creationOf(app)
  const staged =
    app.bank.staging === 'local' ? app.bank.stage(consentRequest({ ...ids, merchant, body, amount })) : undefined
  const { scenario, metadata, redirect_uri, currency, amount: _, ...payer } = body
  return {
    ...payer,
    ...ids,
    amount,
    currency,
    redirect_uri,
    metadata,
    merchant_id: merchant.id,
    audit_id: app.ids.uuid(),
    delivery_id: app.ids.uuid(),
    event_id: app.ids.eventId(),
    event_type: creation.webhook,
    status: creation.to,
    changed_by: creation.actor,
    idempotency_key: input.idempotencyKey,
    request_fingerprint: sha256Hex(canonicalJson({ ...body, amount })),
    raw_payload: input.rawBody,
    sandbox_scenario: scenario,
    bank_consent_reference: staged?.bankConsentReference,
    redirect_url: staged?.redirectUrl,
    consent_seconds: app.config.consentSeconds,
    test: app.config.mode === 'sandbox',
  }
}

type Draft = {
  payment_id: string
  consent_id: string
  end_to_end_id: string
  bank_consent_id: string
  merchant: { id: string; tradingName: string }
  body: CreatePayment
  amount: string
}

function consentRequest(draft: Draft): ConsentRequest {
  return {
    paymentId: draft.payment_id,
    consentId: draft.consent_id,
    endToEndId: draft.end_to_end_id,
    state: draft.bank_consent_id,
    amount: draft.amount,
    currency: draft.body.currency,
    payeeId: draft.merchant.id,
    payeeName: draft.merchant.tradingName,
    redirectUri: draft.body.redirect_uri,
    debtorBankId: draft.body.debtor_bank_id,
    debtorAccount: debtorAccountOf(draft.body),
    remittanceReference: draft.body.remittance_reference,
    scenario: draft.body.scenario,
  }
}

/** With a bank that must be asked, a payment begins as Initiated (decision 17). */
function creationOf(app: App) {
  const on = app.bank.staging === 'local' ? 'creation' : 'creation at a remote bank'
  const creation = PAYMENT_TRANSITIONS.find((row) => row.from === null && row.on === on)
  if (creation === undefined) throw new Error(`the table has no ${on}`)
  return creation
}

/** A twin that lost the race to another transaction reads the winner's payment with a new snapshot. */
async function runUntilKnown(app: App, item: NewPaymentItem): Promise<CreateOutcome> {
  for (let tries = 0; tries < LOST_MAX; tries += 1) {
    const outcome = await app.batches.create.run(item)
    if (outcome.outcome !== 'LOST') return outcome
  }
  throw new DomainError('SERVICE_UNAVAILABLE', 'the payment is being made by another request; repeat this one', {
    retryAfterSeconds: 1,
  })
}

function createdPayment(row: CreateOutcome, currency: string): CreatedPayment {
  if (row.outcome !== 'CREATED' && row.outcome !== 'REPEAT') throw refusal(row.outcome, currency)
  return {
    payment_id: present(row.payment_id),
    status: present(row.status),
    redirect_url: row.redirect_url,
    end_to_end_id: present(row.end_to_end_id),
    gross_amount: present(row.gross_amount),
    fee_amount: present(row.fee_amount),
    net_amount: present(row.net_amount),
    currency: present(row.currency),
    consent_id: present(row.consent_id),
    expires_at: present(row.expires_at),
    created_at: present(row.created_at),
  }
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('create_payments answered a payment without one of its columns')
  return value
}

const REFUSALS: Readonly<Record<string, () => DomainError>> = {
  KEY_REUSED: () =>
    refused(
      'IDEMPOTENCY_KEY_REUSED',
      'this X-Idempotency-Key was used with another body',
      'send a new key for a new payment',
    ),
  MERCHANT_NOT_FOUND: () => refused('UNKNOWN_CLIENT', 'the merchant does not exist', 'check the client id'),
  MERCHANT_INACTIVE: () => refused('MERCHANT_INACTIVE', 'the merchant is disabled', 'ask an operator to enable it'),
  MERCHANT_NOT_APPROVED: () =>
    refused('MERCHANT_NOT_APPROVED', 'the merchant is not approved', 'ask an operator to approve it'),
  PAYOUT_HELD: () => refused('PAYOUT_HELD', "the merchant's payouts are held", 'ask an operator to release the hold'),
  AMOUNT_TOO_LARGE: () =>
    invalidField('amount', 'TOO_LARGE', 'is above the most that one payment may move (ISO 20022 AM13)'),
  AMOUNT_BELOW_FEE: () =>
    new DomainError('AMOUNT_BELOW_FEE', 'the fee would leave nothing of the amount', {
      errors: [{ path: 'amount', code: 'AMOUNT_BELOW_FEE', message: 'must be more than the fee' }],
    }),
}

function refusal(outcome: string, currency: string): Error {
  if (outcome === 'UNSUPPORTED_CURRENCY') return unsupportedCurrency(currency)
  return REFUSALS[outcome]?.() ?? new Error(`create_payments answered ${outcome}`)
}

function refused(code: ErrorCode, message: string, next: string): DomainError {
  return new DomainError(code, message, { next })
}

function unsupportedCurrency(currency: string): DomainError {
  return new DomainError('UNSUPPORTED_CURRENCY', `payments in ${currency} are not offered`, {
    errors: [{ path: 'currency', code: 'UNSUPPORTED_CURRENCY', message: "is not one of the merchant's currencies" }],
  })
}
