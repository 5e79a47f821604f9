import { MEANINGS } from '../../src/lib/failure-meaning.ts'
import type { FailureCode } from '../../src/lib/failure-codes.ts'

/** Why a payment failed, in words for the payer. */
const REASONS: Record<FailureCode, string> = {
  ACCESS_DENIED: 'You cancelled the payment.',
  AUTHORISATION_FAILED: 'Your bank could not confirm that it was you.',
  INSUFFICIENT_FUNDS: 'There was not enough money in your account.',
  LIMIT_EXCEEDED: 'The amount is above a limit that your bank sets.',
  ACCOUNT_CLOSED: 'The account is closed.',
  ACCOUNT_BLOCKED: 'Your bank has blocked payments from this account. Ask your bank.',
  INVALID_DEBTOR_ACCOUNT: 'Your bank does not know the account.',
  INVALID_CREDITOR_ACCOUNT: "The merchant's account could not be reached.",
  FRAUD_SUSPECTED: 'Your bank stopped the payment to protect you. Ask your bank before you try again.',
  DUPLICATE_PAYMENT: 'The same payment was sent before. Check your account before you pay again.',
  BANK_UNAVAILABLE: 'Your bank was not available.',
  BANK_TIMEOUT: 'Your bank did not answer in time. Check your account before you pay again.',
  SETTLEMENT_FAILED: 'The payment was approved but could not be completed.',
  CONSENT_EXPIRED: 'The payment was not approved in time.',
  CANCELLED_BY_MERCHANT: 'The merchant cancelled the payment.',
  BANK_ERROR: 'Your bank rejected the payment without a reason. Ask your bank.',
}

/** Cancelled on the checkout page, or by starting again there, not at the bank. */
const CANCELLED_HERE = 'The payment was cancelled, or started again in another tab or window.'

/**
 * The reason, and whether money moved only if that is certain; undefined for an unknown code.
 * @param source who ended the payment
 */
export function failureTextOf(code: string, source?: string): string | undefined {
  if (!isKnown(code)) return undefined
  const reason = code === 'ACCESS_DENIED' && source === 'PAYER' ? CANCELLED_HERE : REASONS[code]
  return MEANINGS[code].nothingTaken ? `${reason} No money left your account.` : reason
}

function isKnown(code: string): code is FailureCode {
  return Object.hasOwn(REASONS, code)
}
