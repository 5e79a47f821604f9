import type { FailureCode } from './failure-codes.ts'

/** What a payer can do about a failure: the same again, another bank or account, or nothing here. */
export type Remedy = 'again' | 'other-bank' | 'none'

export type Meaning = {
  remedy: Remedy
  /** Whether it is certain that no money left the payer's account. */
  nothingTaken: boolean
}

export const AGAIN: Meaning = { remedy: 'again', nothingTaken: true }
export const HOPELESS: Meaning = { remedy: 'none', nothingTaken: true }
/** It was paid for before, as far as anyone knows. */
export const REPEATED: Meaning = { remedy: 'none', nothingTaken: false }
const OTHER_BANK: Meaning = { remedy: 'other-bank', nothingTaken: true }

/**
 * What each failure of a payment means for its payer (contract §Failure codes). Widget, hub and hosted pages all read this one,
 * so that nobody is told more of their money than is known: it may be on its way where a bank fell silent, and was taken
 * before where this is a repeat. Browsers run this file: it imports nothing but types.
 */
export const MEANINGS = {
  ACCESS_DENIED: AGAIN,
  AUTHORISATION_FAILED: AGAIN,
  INSUFFICIENT_FUNDS: OTHER_BANK,
  LIMIT_EXCEEDED: OTHER_BANK,
  ACCOUNT_CLOSED: OTHER_BANK,
  ACCOUNT_BLOCKED: OTHER_BANK,
  INVALID_DEBTOR_ACCOUNT: OTHER_BANK,
  INVALID_CREDITOR_ACCOUNT: HOPELESS,
  FRAUD_SUSPECTED: OTHER_BANK,
  DUPLICATE_PAYMENT: REPEATED,
  BANK_UNAVAILABLE: AGAIN,
  BANK_TIMEOUT: { remedy: 'again', nothingTaken: false },
  SETTLEMENT_FAILED: AGAIN,
  CONSENT_EXPIRED: AGAIN,
  CANCELLED_BY_MERCHANT: HOPELESS,
  BANK_ERROR: OTHER_BANK,
} as const satisfies Record<FailureCode, Meaning>
