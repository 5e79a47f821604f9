import { RETRY, NO_REMEDY, MEANINGS } from '../src/lib/failure-meaning.ts'
import type { Meaning } from '../src/lib/failure-meaning.ts'

/** What is known of each failure, and of what the service refuses before there is a payment. The words are in locales/. */
const FAILURES = {
  ...MEANINGS,
  /** ACCESS_DENIED where the payer ended it here: on this page, or by starting again in another one. */
  PAYER_CANCELLED: RETRY,
  // What became of the attempts before is not claimed: a bank may have fallen silent in one.
  CHECKOUT_ATTEMPTS_USED: { remedy: 'none', nothingTaken: false },
  CHECKOUT_TOKEN_EXPIRED: NO_REMEDY,
  MERCHANT_NOT_APPROVED: NO_REMEDY,
  NETWORK: RETRY,
} as const satisfies Record<string, Meaning>

/** The failures that have words of their own. */
export type FailureText = keyof typeof FAILURES | 'UNKNOWN'

/** Refusals that a payer needs no different words for. */
const SAME_TEXT_AS: Readonly<Record<string, FailureText>> = {
  CHECKOUT_TOKEN_INVALID: 'CHECKOUT_TOKEN_EXPIRED',
  CHECKOUT_ORIGIN_NOT_ALLOWED: 'MERCHANT_NOT_APPROVED',
  MERCHANT_INACTIVE: 'MERCHANT_NOT_APPROVED',
  PAYOUT_HELD: 'MERCHANT_NOT_APPROVED',
  UNSUPPORTED_CURRENCY: 'MERCHANT_NOT_APPROVED',
  AMOUNT_BELOW_FEE: 'MERCHANT_NOT_APPROVED',
  RATE_LIMITED: 'NETWORK',
  SERVICE_UNAVAILABLE: 'NETWORK',
}

/**
 * What a payer is told of a failure and can do. A code that is not known has a general text and claims nothing.
 * @param source who ended the payment: a bank's ACCESS_DENIED is another one than the payer's own
 */
export function explainFailure(code: string, source?: string): Meaning & { text: FailureText } {
  const isOwn = code === 'ACCESS_DENIED' && source === 'PAYER'
  const text = isOwn ? 'PAYER_CANCELLED' : Object.hasOwn(SAME_TEXT_AS, code) ? SAME_TEXT_AS[code] : code
  if (text !== undefined && isKnown(text)) return { text, ...FAILURES[text] }
  return { text: 'UNKNOWN', remedy: 'again', nothingTaken: false }
}

function isKnown(text: string): text is keyof typeof FAILURES {
  return Object.hasOwn(FAILURES, text)
}
