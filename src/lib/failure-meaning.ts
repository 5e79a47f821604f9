import type { FailureCode } from './failure-codes.ts'

/** What a payer can do about a failure: the same again, another bank or account, or nothing here. */
export type Remedy = 'again' | 'other-bank' | 'none'

export type Meaning = {
  remedy: Remedy
  /** Whether it is certain that no money left the payer's account. */
  nothingTaken: boolean
}

export const RETRY: Meaning = { remedy: 'again', nothingTaken: true }
export const NO_REMEDY: Meaning = { remedy: 'none', nothingTaken: true }
/** It was paid for before, as far as anyone knows. */
export const DUPLICATE: Meaning = { remedy: 'none', nothingTaken: false }
const OTHER_BANK: Meaning = { remedy: 'other-bank', nothingTaken: true }

/**
 * What each failure of a payment means for its payer (contract §Failure codes). Widget, hub and hosted pages all read this one,
 * so that nobody is told more of their money than is known: it may be on its way where a bank fell silent, and was taken
 * before where this is a repeat. Browsers run this file: it imports nothing but types.
 */
export const MEANINGS = {
  ACCESS_DENIED: RETRY,
  AUTHORISATION_FAILED: RETRY,
  INSUFFICIENT_FUNDS: OTHER_BANK,
  LIMIT_EXCEEDED: OTHER_BANK,
  ACCOUNT_CLOSED: OTHER_BANK,
  ACCOUNT_BLOCKED: OTHER_BANK,
  INVALID_DEBTOR_ACCOUNT: OTHER_BANK,
  INVALID_CREDITOR_ACCOUNT: NO_REMEDY,
  FRAUD_SUSPECTED: OTHER_BANK,
  DUPLICATE_PAYMENT: DUPLICATE,
  BANK_UNAVAILABLE: RETRY,
  BANK_TIMEOUT: { remedy: 'again', nothingTaken: false },
  SETTLEMENT_FAILED: RETRY,
  CONSENT_EXPIRED: RETRY,
  CANCELLED_BY_MERCHANT: NO_REMEDY,
  BANK_ERROR: OTHER_BANK,
} as const satisfies Record<FailureCode, Meaning>
