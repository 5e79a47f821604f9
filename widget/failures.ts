import type { FailureText } from '../src/lib/locales/checkout/en-failures.ts'
import { RETRY, NO_REMEDY, MEANINGS, failureTextName } from '../src/lib/failure-meaning.ts'
import type { Meaning } from '../src/lib/failure-meaning.ts'

/** The meaning of each failure, and of errors before a payment exists. The texts are in src/lib/locales. */
const FAILURES = {
  ...MEANINGS,
  /** ACCESS_DENIED when the payer cancelled here: on this page, or by starting again in another one. */
  PAYER_CANCELLED: RETRY,
  // The outcome of earlier attempts is not claimed: a bank may not have responded in one.
  CHECKOUT_ATTEMPTS_USED: { remedy: 'none', nothingTaken: false },
  CHECKOUT_TOKEN_EXPIRED: NO_REMEDY,
  MERCHANT_NOT_APPROVED: NO_REMEDY,
  NETWORK: RETRY,
} as const satisfies Record<Exclude<FailureText, 'UNKNOWN'>, Meaning>

/** Errors that share the text of another failure. */
const SAME_TEXT_AS: Readonly<Record<string, FailureText>> = {
  CHECKOUT_TOKEN_INVALID: 'CHECKOUT_TOKEN_EXPIRED',
  CHECKOUT_ORIGIN_NOT_ALLOWED: 'MERCHANT_NOT_APPROVED',
  MERCHANT_INACTIVE: 'MERCHANT_NOT_APPROVED',
  PAYOUT_HELD: 'MERCHANT_NOT_APPROVED',
  UNSUPPORTED_CURRENCY: 'MERCHANT_NOT_APPROVED',
  AMOUNT_BELOW_FEE: 'MERCHANT_NOT_APPROVED',
  VALIDATION_FAILED: 'MERCHANT_NOT_APPROVED',
  RATE_LIMITED: 'NETWORK',
  SERVICE_UNAVAILABLE: 'NETWORK',
}

/**
 * What to show the payer for a failure and which remedy to offer. An unknown code has a general text and claims
 * nothing.
 * @param source who ended the payment: a bank's ACCESS_DENIED differs from the payer's own
 */
export function explainFailure(code: string, source?: string): Meaning & { text: FailureText } {
  const text = Object.hasOwn(SAME_TEXT_AS, code) ? SAME_TEXT_AS[code] : failureTextName(code, source)
  if (text !== undefined && isKnown(text)) return { text, ...FAILURES[text] }
  return { text: 'UNKNOWN', remedy: 'again', nothingTaken: false }
}

function isKnown(text: string): text is keyof typeof FAILURES {
  return Object.hasOwn(FAILURES, text)
}
