import type { App } from '../app.ts'
import { parseScenario } from '../banks/scenarios.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { fitsCurrency, isKnownCurrency, parseAmount, tooPreciseText } from '../lib/money.ts'
import { findPaymentLimits } from '../merchants/settings-sql.ts'
import type { CreatePayment } from '../wire/new-payment.ts'
import type { CreatedPayment } from '../wire/payments.ts'
import type { CreateOutcome, NewPaymentItem } from './record.ts'

/*
 * The rules that payments with and without a mandate share when they are created: amount, scenario, and the error for
 * each outcome of the SQL function `create_payments`, which also computes the fee.
 */

/** A request to create a payment, with or without a mandate. */
export type CreatePaymentInput = {
  merchant: { id: string; tradingName: string }
  idempotencyKey: string | undefined
  /** The parsed request; a scenario from the header X-Sandbox-Scenario is merged into it. */
  body: CreatePayment
  /** The request's body as it was received, for the audit event of the creation. */
  rawBody: string
  /** For a payment that a payer's browser starts: the token's hash, its order, and the page that the payer returns to. */
  checkout?: { hash: string; returnUrl: string; orderId: string | undefined } | undefined
}

/** The payment, and whether this call created it or an earlier one with the same idempotency key did. */
export type CreatePaymentResult = { created: boolean; payment: CreatedPayment }

/**
 * Checks an amount whose form is valid: more than 0, in a known currency, with no more decimals than the currency has.
 * @throws {DomainError} VALIDATION_FAILED, UNSUPPORTED_CURRENCY
 */
export function checkAmount({ amount: text, currency }: { amount: string; currency: string }): void {
  if (!isKnownCurrency(currency)) throw unsupportedCurrency(currency)
  const amount = parseAmount(text)
  if (amount === 0n) throw invalidField('amount', 'TOO_SMALL', 'must be at least 0.01')
  if (!fitsCurrency(amount, currency)) {
    throw invalidField('amount', 'TOO_PRECISE', tooPreciseText(currency))
  }
}

function unsupportedCurrency(currency: string): DomainError {
  return new DomainError('UNSUPPORTED_CURRENCY', `payments in ${currency} are not offered`, {
    errors: [{ path: 'currency', code: 'UNSUPPORTED_CURRENCY', message: "is not one of the merchant's currencies" }],
  })
}

/**
 * Checks that a scenario is one of the list (src/banks/scenarios.ts), and that the service runs in sandbox mode.
 * @throws {DomainError} VALIDATION_FAILED
 */
export function checkScenario({ config }: Pick<App, 'config'>, { scenario }: { scenario?: string | undefined }): void {
  if (scenario === undefined) return
  if (config.mode !== 'sandbox') {
    throw invalidField('scenario', 'SANDBOX_ONLY', 'exists only in the sandbox; leave it out')
  }
  parseScenario(scenario)
}

/**
 * The payment that `create_payments` created, or found under the same idempotency key.
 * @throws {DomainError} where it rejected the payment
 * @throws {CheckoutOpenError} where the checkout token has an open payment
 */
export async function createdPayment(
  app: Pick<App, 'pool'>,
  row: CreateOutcome,
  input: Pick<CreatePaymentInput, 'merchant' | 'body'>,
): Promise<CreatedPayment> {
  if (row.outcome === 'CHECKOUT_OPEN') throw new CheckoutOpenError(required(row.payment_id))
  if (row.outcome !== 'CREATED' && row.outcome !== 'REPEAT') throw await errorOfOutcome(app, row.outcome, input)
  return {
    payment_id: required(row.payment_id),
    status: required(row.status),
    redirect_url: row.redirect_url,
    end_to_end_id: required(row.end_to_end_id),
    gross_amount: required(row.gross_amount),
    fee_amount: required(row.fee_amount),
    net_amount: required(row.net_amount),
    currency: required(row.currency),
    consent_id: required(row.consent_id),
    expires_at: required(row.expires_at),
    created_at: required(row.created_at),
  }
}

/** How often a creation is tried that keeps losing to another transaction. */
const ATTEMPTS_MAX = 3

/**
 * Runs `create_payments`, and again where the outcome is LOST: another transaction created a payment with the same key
 * at the same moment, and only a new snapshot can read it.
 * @throws {DomainError} SERVICE_UNAVAILABLE after the last attempt. Only payments of a checkout token can lose that
 *   often: they are cancelled and replaced repeatedly
 */
export async function createWithRetries(
  item: NewPaymentItem,
  run: () => Promise<CreateOutcome>,
): Promise<CreateOutcome> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const outcome = await run()
    if (outcome.outcome !== 'LOST') return outcome
  }
  // Without a checkout token the second attempt finds the winner's payment, unless two keys got the same id: a bug.
  if (item['checkout_token_hash'] === undefined) throw new Error('the id of a new payment is already in use')
  throw creationInProgress()
}

/** Other requests are creating payments for the same order or mandate, and hold its lock. */
export function creationInProgress(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', 'the payment is being created by another request; repeat this one', {
    retryAfterSeconds: 1,
  })
}

function required<T>(value: T | null): T {
  if (value === null) throw new Error('create_payments returned a payment without one of its columns')
  return value
}

/** The checkout token has another payment that still waits for its payer. */
export class CheckoutOpenError extends Error {
  readonly paymentId: string

  constructor(paymentId: string) {
    super('the checkout token has an open payment')
    this.name = 'CheckoutOpenError'
    this.paymentId = paymentId
  }
}

const ERRORS: Readonly<Record<string, () => DomainError>> = {
  KEY_REUSED: () =>
    errorWithNext(
      'IDEMPOTENCY_KEY_REUSED',
      'this X-Idempotency-Key was used with another body',
      'send a new key for a new payment',
    ),
  MERCHANT_NOT_FOUND: () => errorWithNext('UNKNOWN_CLIENT', 'the merchant does not exist', 'check the client id'),
  MERCHANT_INACTIVE: () =>
    errorWithNext('MERCHANT_INACTIVE', 'the merchant is disabled', 'ask an operator to enable it'),
  MERCHANT_NOT_APPROVED: () =>
    errorWithNext('MERCHANT_NOT_APPROVED', 'the merchant is not approved', 'ask an operator to approve it'),
  PAYOUT_HELD: () =>
    errorWithNext('PAYOUT_HELD', "the merchant's payouts are held", 'ask an operator to release the hold'),
  CHECKOUT_ALREADY_PAID: () =>
    errorWithNext(
      'CHECKOUT_ALREADY_PAID',
      'this order is paid already',
      'ask the shop about the order; each order needs a token of its own',
    ),
  CHECKOUT_ATTEMPTS_USED: () =>
    errorWithNext(
      'CHECKOUT_ATTEMPTS_USED',
      'this order was tried too many times',
      "ask the shop to start the order again; the shop's server creates a new token",
    ),
  AMOUNT_BELOW_FEE: () =>
    new DomainError('AMOUNT_BELOW_FEE', 'the fee would leave nothing of the amount', {
      errors: [{ path: 'amount', code: 'AMOUNT_BELOW_FEE', message: 'must be more than the fee' }],
    }),
}

/** The error with the merchant's limits, which are read only here: the hot path does without them. */
async function beyondLimits(
  app: Pick<App, 'pool'>,
  outcome: 'UNSUPPORTED_CURRENCY' | 'AMOUNT_TOO_LARGE',
  { merchant, body: { amount, currency } }: RejectedPayment,
): Promise<DomainError> {
  const { currencies, payment_amount_max: max } = await findPaymentLimits(app.pool, merchant.id)
  if (outcome === 'UNSUPPORTED_CURRENCY') {
    const expected = currencies.length === 1 ? currencies[0] : undefined
    const message = `is not one of the merchant's currencies: ${currencies.join(', ')}`
    return new DomainError('UNSUPPORTED_CURRENCY', `payments in ${currency} are not offered`, {
      errors: [{ path: 'currency', code: 'UNSUPPORTED_CURRENCY', message, value: currency, expected }],
    })
  }
  const message = `is above ${max}, the maximum of one payment (ISO 20022 AM13)`
  return new DomainError('VALIDATION_FAILED', `amount: ${message}`, {
    errors: [{ path: 'amount', code: 'TOO_LARGE', message, value: amount }],
    available: max,
  })
}

type RejectedPayment = { merchant: { id: string }; body: { amount: string; currency: string } }

/** The error of an outcome of `create_payments` other than a payment. */
export async function errorOfOutcome(
  app: Pick<App, 'pool'>,
  outcome: string,
  rejected: RejectedPayment,
): Promise<Error> {
  if (outcome === 'UNSUPPORTED_CURRENCY' || outcome === 'AMOUNT_TOO_LARGE') return beyondLimits(app, outcome, rejected)
  return ERRORS[outcome]?.() ?? new Error(`create_payments returned the unknown outcome ${outcome}`)
}

function errorWithNext(code: ErrorCode, message: string, next: string): DomainError {
  return new DomainError(code, message, { next })
}
