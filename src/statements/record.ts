import { z } from 'zod'
import { MATCH_RULES, STATEMENT_FORMATS } from '../wire/statements.ts'

/** A row of `bank_statements`. */
export const StatementRecord = z.object({
  id: z.string(),
  format: z.enum(STATEMENT_FORMATS),
  reference: z.string(),
  account: z.string(),
  currency: z.string().nullable(),
  opening_amount: z.string().nullable(),
  closing_amount: z.string().nullable(),
  line_count: z.int(),
  new_line_count: z.int(),
  unbooked_count: z.int(),
  imported_by: z.string(),
  imported_at: z.string(),
})
export type StatementRecord = z.infer<typeof StatementRecord>

/** A row of `bank_statement_lines`. */
export const StatementLineRecord = z.object({
  id: z.string(),
  statement_id: z.string(),
  account: z.string(),
  booked_on: z.string(),
  direction: z.enum(['CREDIT', 'DEBIT']),
  amount: z.string(),
  currency: z.string(),
  is_reversal: z.boolean(),
  bank_reference: z.string().nullable(),
  end_to_end_id: z.string().nullable(),
  remittance: z.string().nullable(),
  return_reason: z.string().nullable(),
  merchant_id: z.string().nullable(),
  payment_id: z.string().nullable(),
  refund_id: z.string().nullable(),
  payout_id: z.string().nullable(),
  matched_by: z.enum(MATCH_RULES).nullable(),
  matched_at: z.string().nullable(),
  resolution_reason: z.string().nullable(),
})
export type StatementLineRecord = z.infer<typeof StatementLineRecord>

/** A line that is a payout: a debit says that the bank has paid it, a credit that its money came back. */
export const PayoutLine = z.object({
  merchant_id: z.string(),
  payout_id: z.string(),
  direction: z.enum(['CREDIT', 'DEBIT']),
  bank_reference: z.string().nullable(),
  return_reason: z.string().nullable(),
})
export type PayoutLine = z.infer<typeof PayoutLine>

/** A line that is a refund: a debit says that the bank has executed it, a credit that its money came back. */
export const RefundLine = z.object({
  merchant_id: z.string(),
  refund_id: z.string(),
  direction: z.enum(['CREDIT', 'DEBIT']),
  bank_reference: z.string().nullable(),
})
export type RefundLine = z.infer<typeof RefundLine>

/** A payment or refund that has the reference of an open line, and its direction, amount and currency. */
export const ByReference = z.object({
  merchant_id: z.string(),
  payment_id: z.string(),
  refund_id: z.string().nullable(),
  direction: z.enum(['CREDIT', 'DEBIT']),
  amount: z.string(),
  currency: z.string(),
  key: z.string(),
  created_at: z.string(),
})
export type ByReference = z.infer<typeof ByReference>

export const UnmatchedMovementRecord = z.object({
  kind: z.enum(['payment', 'refund', 'payout']),
  merchant_id: z.string(),
  payment_id: z.string().nullable(),
  refund_id: z.string().nullable(),
  payout_id: z.string().nullable(),
  end_to_end_id: z.string(),
  amount: z.string(),
  currency: z.string(),
  created_at: z.string(),
})
export type UnmatchedMovementRecord = z.infer<typeof UnmatchedMovementRecord>
