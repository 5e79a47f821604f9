import { z } from 'zod'
import { PayerAccount } from '../payments/refunds/record.ts'
import { RefundStatus } from '../wire/refunds.ts'

/** A row of `payout_files`, without its content. */
export const PayoutFileRecord = z.object({
  id: z.string(),
  message_id: z.string(),
  payout_count: z.int(),
  refund_count: z.int(),
  control_sum: z.string(),
  content_hash: z.string(),
  created_by: z.string(),
  created_at: z.string(),
})
export type PayoutFileRecord = z.infer<typeof PayoutFileRecord>

/** The same with its content, sealed. */
export const PayoutFileContent = PayoutFileRecord.extend({ content: z.string() })
export type PayoutFileContent = z.infer<typeof PayoutFileContent>

/** A refund with what a file says of it: where its payer's account is, and the payer's name where it is known. */
export const FileRefund = PayerAccount.extend({
  id: z.string(),
  payment_intent_id: z.string(),
  currency: z.string(),
  amount: z.string(),
  status: RefundStatus,
  failure_code: z.string().nullable(),
  end_to_end_id: z.string(),
  payer_name: z.string().nullable(),
})
export type FileRefund = z.infer<typeof FileRefund>
