import { z } from 'zod'
import { PaymentStatus } from '../wire/payments.ts'

/** A payment as a transaction: with its payout amount and settlement time. Amounts are numeric(19,4) text. */
export const TransactionRecord = z.object({
  payment_id: z.string(),
  created_at: z.string(),
  /** Time of the event that settled it; null until then. */
  settled_at: z.string().nullable(),
  status: PaymentStatus,
  end_to_end_id: z.string(),
  gross_amount: z.string(),
  fee_amount: z.string(),
  net_amount: z.string(),
  refunded_amount: z.string(),
  /** Negative after a refund of more than the net amount. */
  payout_amount: z.string(),
  currency: z.string(),
  payer_name: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  bank_reference: z.string().nullable(),
  failure_code: z.string().nullable(),
})
export type TransactionRecord = z.infer<typeof TransactionRecord>
