import type { FailureCode } from '../lib/failure-codes.ts'

/** Codes of ISO 20022 (ExternalStatusReason1Code) that banks reject payments with, and what each is here. */
const FAILURES: Readonly<Record<string, FailureCode>> = {
  AC01: 'INVALID_CREDITOR_ACCOUNT',
  AC03: 'INVALID_CREDITOR_ACCOUNT',
  AC04: 'ACCOUNT_CLOSED',
  AC06: 'ACCOUNT_BLOCKED',
  AC07: 'ACCOUNT_CLOSED',
  AC14: 'INVALID_CREDITOR_ACCOUNT',
  AG01: 'INVALID_CREDITOR_ACCOUNT',
  AG03: 'INVALID_CREDITOR_ACCOUNT',
  AM02: 'LIMIT_EXCEEDED',
  AM04: 'INSUFFICIENT_FUNDS',
  AM13: 'LIMIT_EXCEEDED',
  AM14: 'LIMIT_EXCEEDED',
  AM21: 'LIMIT_EXCEEDED',
  BE01: 'INVALID_CREDITOR_ACCOUNT',
  FR01: 'FRAUD_SUSPECTED',
  RC01: 'INVALID_CREDITOR_ACCOUNT',
  RC04: 'INVALID_CREDITOR_ACCOUNT',
}

/** The failure of a payout for the reason that its bank gives. */
export function failureOfReason(reason: string | null): FailureCode {
  return (isKnownReason(reason) ? FAILURES[reason] : undefined) ?? 'BANK_ERROR'
}

/** Whether the reason is one of a payment itself, and so not of a second upload of its file. */
export function isKnownReason(reason: string | null): reason is string {
  return reason !== null && Object.hasOwn(FAILURES, reason)
}
