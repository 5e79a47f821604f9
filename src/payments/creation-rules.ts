import type { App } from '../app.ts'
import { parseScenario } from '../banks/scenarios.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { fitsCurrency, isKnownCurrency, parseAmount, tooPreciseText } from '../lib/money.ts'
import type { CreatePayment } from '../wire/new-payment.ts'
import type { CreatedPayment } from '../wire/payments.ts'
import type { CreateOutcome, NewPaymentItem } from './record.ts'

/** A payment that is asked for, with or without a mandate. */
export type CreatePaymentInput = {
  merchant: { id: string; tradingName: string }
  idempotencyKey: string | undefined
  /** The parsed request; a scenario given as a header stands in it. */
  body: CreatePayment
  /** The request's body as it came: the creation's audit event keeps it. */
  rawBody: string
  /** Of a payment that a payer's browser starts: the token's hash, and where the shop takes the payer back. */
  checkout?: { hash: string; returnUrl: string } | undefined
}

/** The payment, and whether this call made it or found what the same key made before. */
export type CreatePaymentResult = { created: boolean; payment: CreatedPayment }

/**
 * What an amount must be beside its form: something, in a currency that is offered, and no digits that this can't pay.
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

export function unsupportedCurrency(currency: string): DomainError {
  return new DomainError('UNSUPPORTED_CURRENCY', `payments in ${currency} are not offered`, {
    errors: [{ path: 'currency', code: 'UNSUPPORTED_CURRENCY', message: "is not one of the merchant's currencies" }],
  })
}

/**
 * Scenarios exist in the sandbox alone, and only those of the list do.
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
 * The payment that `create_payments` made or found.
 * @throws {DomainError} the refusal, where it made none
 * @throws {CheckoutOpenError}
 */
export function createdPayment(row: CreateOutcome, currency: string): CreatedPayment {
  if (row.outcome === 'CHECKOUT_OPEN') throw new CheckoutOpenError(required(row.payment_id))
  if (row.outcome !== 'CREATED' && row.outcome !== 'REPEAT') throw errorOfOutcome(row.outcome, currency)
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

/** How often a payment that another transaction was just making is looked for again. */
const ATTEMPTS_MAX = 3

/**
 * Runs `create_payments` until it knows: a twin that lost the race to another transaction reads the winner's payment
 * with a new snapshot.
 * @throws {DomainError} SERVICE_UNAVAILABLE when it keeps losing, as only payments of a token can, being taken back
 *   again and again
 */
export async function createWithRetries(
  item: NewPaymentItem,
  run: () => Promise<CreateOutcome>,
): Promise<CreateOutcome> {
  for (let tries = 0; tries < ATTEMPTS_MAX; tries += 1) {
    const outcome = await run()
    if (outcome.outcome !== 'LOST') return outcome
  }
  // Only payments of a token can be taken back again and again; all others lose to one that stays, or to a bug of ours.
  if (item['checkout_token_hash'] === undefined) throw new Error('a payment has an id that is not its own alone')
  throw creationInProgress()
}

/** Others are making payments of the same kind, and hold what this one needs. */
export function creationInProgress(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', 'the payment is being made by another request; repeat this one', {
    retryAfterSeconds: 1,
  })
}

function required<T>(value: T | null): T {
  if (value === null) throw new Error('create_payments answered a payment without one of its columns')
  return value
}

/** The checkout token has another payment, which still waits for its payer. */
export class CheckoutOpenError extends Error {
  readonly paymentId: string

  constructor(paymentId: string) {
    super('the checkout token has a payment that is open')
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
      "ask the shop to start the order again; the shop's server makes a new token",
    ),
  AMOUNT_TOO_LARGE: () =>
    invalidField('amount', 'TOO_LARGE', 'is above the most that one payment may move (ISO 20022 AM13)'),
  AMOUNT_BELOW_FEE: () =>
    new DomainError('AMOUNT_BELOW_FEE', 'the fee would leave nothing of the amount', {
      errors: [{ path: 'amount', code: 'AMOUNT_BELOW_FEE', message: 'must be more than the fee' }],
    }),
}

function errorOfOutcome(outcome: string, currency: string): Error {
  if (outcome === 'UNSUPPORTED_CURRENCY') return unsupportedCurrency(currency)
  return ERRORS[outcome]?.() ?? new Error(`create_payments answered ${outcome}`)
}

function errorWithNext(code: ErrorCode, message: string, next: string): DomainError {
  return new DomainError(code, message, { next })
}
