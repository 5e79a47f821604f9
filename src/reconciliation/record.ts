import { z } from 'zod'

/** A difference as a check finds it. */
export const DifferenceRecord = z.object({
  merchant_id: z.string(),
  subject: z.string(),
  payment_id: z.string().nullable(),
  currency: z.string(),
  expected: z.string().nullable(),
  found: z.string().nullable(),
})
export type DifferenceRecord = z.infer<typeof DifferenceRecord>

export const TotalRecord = z.object({
  merchant_id: z.string(),
  currency: z.string(),
  settled: z.string(),
  ledger_settled: z.string(),
  fees: z.string(),
  ledger_fees: z.string(),
  refunded: z.string(),
  ledger_refunded: z.string(),
})
export type TotalRecord = z.infer<typeof TotalRecord>
