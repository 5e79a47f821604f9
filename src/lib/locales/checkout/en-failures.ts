/** Why a payment failed, and errors before there is one. What a payer can read without a connection is in en.ts. */
export const failures = {
  ACCESS_DENIED: 'You cancelled at your bank.',
  AUTHORISATION_FAILED: 'Your bank could not confirm it was you.',
  INSUFFICIENT_FUNDS: 'There is not enough money in that account.',
  LIMIT_EXCEEDED: 'The amount is above your bank’s limit.',
  ACCOUNT_CLOSED: 'That account is closed. Choose another account.',
  ACCOUNT_BLOCKED: 'That account is blocked. Choose another account.',
  INVALID_DEBTOR_ACCOUNT: 'That account can’t be used. Check it, or choose another.',
  INVALID_CREDITOR_ACCOUNT: 'The shop’s account details are wrong. Please tell the shop.',
  FRAUD_SUSPECTED: 'Your bank stopped the payment to protect you. Please contact your bank.',
  DUPLICATE_PAYMENT: 'This payment was sent before. Check your account before you pay again.',
  BANK_UNAVAILABLE: 'Your bank is not answering. Try again in a moment, or use another bank.',
  BANK_TIMEOUT: 'Your bank did not answer in time. Check your account before you pay again.',
  SETTLEMENT_FAILED: 'The payment could not be completed.',
  CONSENT_EXPIRED: 'It took too long to confirm the payment. Please start again.',
  CANCELLED_BY_MERCHANT: 'The shop cancelled the payment.',
  CANCELLED_BY_PLATFORM: 'The payment was cancelled.',
  BANK_ERROR: 'Your bank rejected the payment without a reason.',
  PAYER_CANCELLED: 'This payment was cancelled, or started again in another tab or window.',
  CHECKOUT_ATTEMPTS_USED: 'Too many attempts to pay this order. Please contact the shop.',
  CHECKOUT_TOKEN_EXPIRED: 'This checkout is no longer valid. Go back to the shop and start again.',
  MERCHANT_NOT_APPROVED: 'This shop can’t take payments at the moment.',
}

/** Failures with a text of their own. */
export type FailureText = keyof typeof failures | 'NETWORK' | 'UNKNOWN'

export type Failures = Record<FailureText, string>
