import { z } from 'zod'
import { SettlementSchedule } from '../wire/admin.ts'
import { LINE_KINDS } from '../wire/settlements.ts'

/** A row of `settlements`; amounts are numeric text. */
export const SettlementRecord = z.object({
  settlement_id: z.string(),
  merchant_id: z.string(),
  currency: z.string(),
  status: z.enum(['CLOSED', 'PAID_OUT']),
  kind: SettlementSchedule,
  period_from: z.string(),
  period_to: z.string(),
  opening_balance: z.string(),
  gross_amount: z.string(),
  fee_amount: z.string(),
  refunded_amount: z.string(),
  corrected_amount: z.string(),
  deducted_amount: z.string(),
  rounding_amount: z.string(),
  net_amount: z.string(),
  payable_amount: z.string(),
  line_count: z.int(),
  payout_id: z.string().nullable(),
  bank_account_id: z.string().nullable(),
  closed_at: z.string(),
})
export type SettlementRecord = z.infer<typeof SettlementRecord>

/** A row of `settlement_lines`, with the payment or refund that it is of. */
export const SettlementLineRecord = z.object({
  id: z.string(),
  kind: z.enum(LINE_KINDS),
  payment_id: z.string().nullable(),
  refund_id: z.string().nullable(),
  end_to_end_id: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  amount: z.string(),
  currency: z.string(),
  occurred_at: z.string(),
})
export type SettlementLineRecord = z.infer<typeof SettlementLineRecord>

/** A merchant and currency whose period is open and has lines. */
export const OpenPeriod = z.object({ merchant_id: z.string(), currency: z.string() })
export type OpenPeriod = z.infer<typeof OpenPeriod>

/** An open period that has ended. `due_at` is as PostgreSQL writes it: what is compared with it needs the microseconds. */
export const DuePeriod = OpenPeriod.extend({ due_at: z.string() })
export type DuePeriod = z.infer<typeof DuePeriod>
