import type { TransferOutcome } from '../accounts/transfer-sql.ts'
import type { FailureCode } from '../lib/failure-codes.ts'

type TransferFailure = Exclude<TransferOutcome, 'BOOKED' | 'REPEAT' | 'OTHER_TRANSFER'>

/** The failure code of a payment whose money can't be moved from the payer to the merchant. */
const PAYMENT_FAILURES: Readonly<Record<TransferFailure, FailureCode>> = {
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  DEBTOR_NOT_FOUND: 'INVALID_DEBTOR_ACCOUNT',
  DEBTOR_CLOSED: 'ACCOUNT_CLOSED',
  DEBTOR_BLOCKED: 'ACCOUNT_BLOCKED',
  DEBTOR_CURRENCY: 'INVALID_DEBTOR_ACCOUNT',
  CREDITOR_NOT_FOUND: 'INVALID_CREDITOR_ACCOUNT',
  CREDITOR_CLOSED: 'INVALID_CREDITOR_ACCOUNT',
  CREDITOR_CURRENCY: 'INVALID_CREDITOR_ACCOUNT',
}

/**
 * The same for a refund, which goes from the merchant to the payer: a code refers to the same account in both tables.
 */
const REFUND_FAILURES: Readonly<Record<TransferFailure, FailureCode>> = {
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  DEBTOR_NOT_FOUND: 'INVALID_CREDITOR_ACCOUNT',
  DEBTOR_CLOSED: 'INVALID_CREDITOR_ACCOUNT',
  DEBTOR_BLOCKED: 'INVALID_CREDITOR_ACCOUNT',
  DEBTOR_CURRENCY: 'INVALID_CREDITOR_ACCOUNT',
  CREDITOR_NOT_FOUND: 'INVALID_DEBTOR_ACCOUNT',
  CREDITOR_CLOSED: 'ACCOUNT_CLOSED',
  CREDITOR_CURRENCY: 'INVALID_DEBTOR_ACCOUNT',
}

/** The same for a payout, which goes from the merchant's settlement account to an account of its own. */
const PAYOUT_FAILURES: Readonly<Record<TransferFailure, FailureCode>> = {
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  DEBTOR_NOT_FOUND: 'BANK_ERROR',
  DEBTOR_CLOSED: 'BANK_ERROR',
  DEBTOR_BLOCKED: 'BANK_ERROR',
  DEBTOR_CURRENCY: 'BANK_ERROR',
  CREDITOR_NOT_FOUND: 'INVALID_CREDITOR_ACCOUNT',
  CREDITOR_CLOSED: 'INVALID_CREDITOR_ACCOUNT',
  CREDITOR_CURRENCY: 'INVALID_CREDITOR_ACCOUNT',
}

const FAILURES = { payment: PAYMENT_FAILURES, refund: REFUND_FAILURES, payout: PAYOUT_FAILURES } as const

/**
 * The failure of the payment, refund or payout that a transfer belongs to; undefined when the money moved.
 * @throws {Error} when another transfer has the id
 */
export function failureOfTransfer(outcome: TransferOutcome, of: keyof typeof FAILURES): FailureCode | undefined {
  if (outcome === 'BOOKED' || outcome === 'REPEAT') return undefined
  if (outcome === 'OTHER_TRANSFER') throw new Error(`a transfer with the id of this ${of} was booked with other terms`)
  return FAILURES[of][outcome]
}
