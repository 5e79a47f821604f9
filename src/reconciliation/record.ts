import { z } from 'zod'
import { KeptReconciliation } from '../wire/reconciliation.ts'

/** A difference as a check finds it. */
export const DifferenceRecord = z.object({
  merchant_id: z.string().nullable(),
  trading_name: z.string().nullable(),
  subject: z.string(),
  payment_id: z.string().nullable(),
  currency: z.string(),
  expected: z.string().nullable(),
  found: z.string().nullable(),
  /** Of this row; null where its check has one cause for all. */
  cause: z.string().nullable(),
  /** How many the check finds. */
  of_kind: z.int(),
})
export type DifferenceRecord = z.infer<typeof DifferenceRecord>

export const TotalRecord = z.object({
  merchant_id: z.string(),
  trading_name: z.string(),
  currency: z.string(),
  settled: z.string(),
  ledger_settled: z.string(),
  fees: z.string(),
  ledger_fees: z.string(),
  refunded: z.string(),
  ledger_refunded: z.string(),
})
export type TotalRecord = z.infer<typeof TotalRecord>

/** A run of the daily job, as it is kept. */
export const RunRecord = KeptReconciliation
export type RunRecord = z.infer<typeof RunRecord>
