import type { FailureCode } from '../lib/failure-codes.ts'

/** Codes of ISO 20022 (ExternalStatusReason1Code) that banks reject payments with, and what each is here: of the payee. */
const OF_PAYEE: Readonly<Record<string, FailureCode>> = {
  AC01: 'INVALID_CREDITOR_ACCOUNT',
  AC03: 'INVALID_CREDITOR_ACCOUNT',
  AC04: 'ACCOUNT_CLOSED',
  AC07: 'ACCOUNT_CLOSED',
  AC14: 'INVALID_CREDITOR_ACCOUNT',
  AG01: 'INVALID_CREDITOR_ACCOUNT',
  AG03: 'INVALID_CREDITOR_ACCOUNT',
  BE01: 'INVALID_CREDITOR_ACCOUNT',
  RC01: 'INVALID_CREDITOR_ACCOUNT',
  RC04: 'INVALID_CREDITOR_ACCOUNT',
}

/** Of the account that pays: a second upload causes them too, where the first has used up the balance or the day's limit. */
const OF_PAYER: Readonly<Record<string, FailureCode>> = {
  AC06: 'ACCOUNT_BLOCKED',
  AM02: 'LIMIT_EXCEEDED',
  AM04: 'INSUFFICIENT_FUNDS',
  AM13: 'LIMIT_EXCEEDED',
  AM14: 'LIMIT_EXCEEDED',
  AM21: 'LIMIT_EXCEEDED',
  FR01: 'FRAUD_SUSPECTED',
}
const FAILURES = { ...OF_PAYER, ...OF_PAYEE }

/** The failure of a payout for the reason that its bank gives. */
export function failureOfReason(reason: string | null): FailureCode {
  return (reason !== null && Object.hasOwn(FAILURES, reason) ? FAILURES[reason] : undefined) ?? 'BANK_ERROR'
}

/** Whether the reason is the payee's account: that is never the reason of a second upload. */
export function isReasonOfPayee(reason: string | null): boolean {
  return reason !== null && Object.hasOwn(OF_PAYEE, reason)
}
