import type { FailureCode } from './failure-codes.ts'

/** The payer's next step after a failure: try again, choose another bank or account, or none. */
export type Remedy = 'again' | 'other-bank' | 'none'

export type Meaning = {
  remedy: Remedy
  /** Whether it is certain that no money has left the payer's account. */
  nothingTaken: boolean
}

export const RETRY: Meaning = { remedy: 'again', nothingTaken: true }
export const NO_REMEDY: Meaning = { remedy: 'none', nothingTaken: true }
/** Presumably it has been paid already. */
export const DUPLICATE: Meaning = { remedy: 'none', nothingTaken: false }
const OTHER_BANK: Meaning = { remedy: 'other-bank', nothingTaken: true }

/**
 * The meaning of each failure for the payer (contract §Failure codes). Widget, hub and hosted pages all read
 * this table, so that none of them claims more about the payer's money than is known: it may be in transit after a bank
 * timeout, and was taken before in the case of a duplicate. Browsers run this file: it imports only types.
 */
export const MEANINGS = {
  ACCESS_DENIED: RETRY,
  AUTHORISATION_FAILED: RETRY,
  INSUFFICIENT_FUNDS: OTHER_BANK,
  LIMIT_EXCEEDED: RETRY,
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
  CANCELLED_BY_PLATFORM: NO_REMEDY,
  BANK_ERROR: OTHER_BANK,
} as const satisfies Record<FailureCode, Meaning>

/** The name of a failure's text: what its payer cancelled with us was not cancelled at the bank (decision 52). */
export function failureTextName(code: string, source?: string): string {
  return code === 'ACCESS_DENIED' && source === 'PAYER' ? 'PAYER_CANCELLED' : code
}
