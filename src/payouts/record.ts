import { z } from 'zod'
import { PayoutStatus } from '../wire/payouts.ts'

/** A row of `payouts`. */
export const PayoutRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  currency: z.string(),
  amount: z.string(),
  debt_deducted: z.string(),
  status: PayoutStatus,
  bank_account_id: z.string(),
  connector: z.string(),
  end_to_end_id: z.string(),
  bank_reference: z.string().nullable(),
  failure_code: z.string().nullable(),
  attempt_count: z.int(),
  /** Null once the bank is not asked any more. */
  next_attempt_at: z.string().nullable(),
  /** Null where no time is set: it has not failed, or waits for another account. */
  retry_at: z.string().nullable(),
  created_at: z.string(),
  sent_at: z.string().nullable(),
  paid_at: z.string().nullable(),
  failed_at: z.string().nullable(),
  returned_at: z.string().nullable(),
})
export type PayoutRecord = z.infer<typeof PayoutRecord>

/** A row of `payout_events`. */
export const PayoutEventRecord = z.object({
  previous_status: PayoutStatus.nullable(),
  new_status: PayoutStatus,
  changed_by: z.enum(['BATCH_JOB', 'OPERATOR']),
  created_at: z.string(),
})
export type PayoutEventRecord = z.infer<typeof PayoutEventRecord>
