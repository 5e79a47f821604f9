import type { FailureCode } from '../../lib/failure-codes.ts'

/**
 * Why a payment failed, in words for the payer, and what to do; the merchant's texts are in lib/failure-codes.ts, and
 * whether money was taken is in lib/failure-meaning.ts.
 */
export const FAILURE_TEXTS: Readonly<Record<FailureCode, string>> = {
  ACCESS_DENIED: 'You cancelled the payment.',
  AUTHORISATION_FAILED: "Your bank couldn't confirm that it was you. Try again, and have your bank's login at hand.",
  INSUFFICIENT_FUNDS: 'There was not enough money in the account. Try again from another account.',
  LIMIT_EXCEEDED: "The amount is above your bank's limit. Ask your bank to raise it, or pay from another account.",
  ACCOUNT_CLOSED: 'The account is closed. Try again from another account.',
  ACCOUNT_BLOCKED: 'The account is blocked. Ask your bank, or pay from another account.',
  INVALID_DEBTOR_ACCOUNT: "This account can't be paid from. Try again from another account.",
  INVALID_CREDITOR_ACCOUNT: "The shop's account can't be paid to at the moment. Ask the shop.",
  FRAUD_SUSPECTED: 'Your bank stopped the payment to protect you. Ask your bank before you try again.',
  DUPLICATE_PAYMENT: 'The same payment was sent before. Check your account before you pay again.',
  BANK_UNAVAILABLE: 'Your bank is not available at the moment. Try again later, or choose another bank.',
  BANK_TIMEOUT: 'Your bank did not answer in time. Check your account before you pay again.',
  SETTLEMENT_FAILED: "The payment didn't go through. Try again, or choose another bank.",
  CONSENT_EXPIRED: 'The payment was not approved in time. Go back to the shop and start again.',
  CANCELLED_BY_MERCHANT: 'The shop cancelled the payment. Ask the shop.',
  BANK_ERROR: 'Your bank rejected the payment without a reason. Ask your bank, or choose another one.',
}

/**
 * For a payment that its payer cancelled here and not at the bank (decision 52): on purpose, or by starting the order
 * again in another tab.
 */
export const CANCELLED_WITH_US =
  'This payment was cancelled, or started again in another tab or window. Nothing was taken from your account for this one.'
