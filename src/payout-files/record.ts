import { z } from 'zod'

/** A row of `payout_files`, without its content. */
export const PayoutFileRecord = z.object({
  id: z.string(),
  message_id: z.string(),
  payout_count: z.int(),
  control_sum: z.string(),
  content_hash: z.string(),
  created_by: z.string(),
  created_at: z.string(),
})
export type PayoutFileRecord = z.infer<typeof PayoutFileRecord>

/** The same with its content, sealed. */
export const PayoutFileContent = PayoutFileRecord.extend({ content: z.string() })
export type PayoutFileContent = z.infer<typeof PayoutFileContent>
