import { z } from 'zod'
import { DisputeChangedBy, DisputeReason, DisputeStatus, OpenedBy } from '../wire/dispute-fields.ts'
import { RefundStatus } from '../wire/refunds.ts'

/**
 * A dispute with columns of its payment, its merchant and its refund. Without the evidence, which would make lists
 * megabytes long. Amounts are numeric(19,4) text.
 */
export const DisputeSummaryRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  payment_id: z.string(),
  end_to_end_id: z.string(),
  gross_amount: z.string(),
  refundable_amount: z.string(),
  currency: z.string(),
  opened_by: OpenedBy,
  reason: DisputeReason,
  status: DisputeStatus,
  payer_statement: z.string().nullable(),
  statement: z.string().nullable(),
  has_evidence: z.boolean(),
  evidence_due_at: z.string(),
  evidence_missing: z.boolean(),
  due_at: z.string().nullable(),
  assignee: z.string().nullable(),
  escalation_reason: z.string().nullable(),
  resolution_note: z.string().nullable(),
  resolved_by: z.string().nullable(),
  refund_id: z.string().nullable(),
  refund_status: RefundStatus.nullable(),
  refund_amount: z.string().nullable(),
  trading_name: z.string(),
  realm_slug: z.string().nullable(),
  opened_at: z.string(),
  updated_at: z.string(),
  resolved_at: z.string().nullable(),
})
export type DisputeSummaryRecord = z.infer<typeof DisputeSummaryRecord>

export const DisputeRecord = DisputeSummaryRecord.extend({ merchant_evidence: z.string().nullable() })
export type DisputeRecord = z.infer<typeof DisputeRecord>

/** An event of a dispute. */
export const DisputeEventRecord = z.object({
  ordinal: z.string(),
  previous_status: DisputeStatus.nullable(),
  new_status: DisputeStatus,
  event: z.string(),
  changed_by: DisputeChangedBy,
  actor_id: z.string().nullable(),
  actor_name: z.string().nullable(),
  note: z.string().nullable(),
  created_at: z.string(),
})
export type DisputeEventRecord = z.infer<typeof DisputeEventRecord>

/** An open dispute whose deadline for evidence has passed. */
export const OverdueDispute = z.object({
  id: z.string(),
  merchant_id: z.string(),
  /** As PostgreSQL writes it: what is compared with it needs the microseconds. */
  evidence_due_at: z.string(),
})
export type OverdueDispute = z.infer<typeof OverdueDispute>
