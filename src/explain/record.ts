import { z } from 'zod'
import { KybStatus } from '../wire/admin.ts'
import { DisputeChangedBy, DisputeReason, DisputeStatus, OpenedBy } from '../wire/disputes.ts'
import { ChangedBy, ConsentStatus, PaymentStatus } from '../wire/payments.ts'
import { RefundStatus } from '../wire/refunds.ts'
import { DeliveryStatus } from '../wire/webhooks.ts'

/** Which row an id means, and whose it is. */
export const Subject = z.object({
  kind: z.enum(['payment', 'delivery', 'dispute', 'merchant']),
  id: z.string(),
  merchant_id: z.string(),
})
export type Subject = z.infer<typeof Subject>

/** A payment, as far as its story needs it: nothing of the payer. Amounts are numeric(19,4) text. */
export const ToldPayment = z.object({
  id: z.string(),
  merchant_id: z.string(),
  status: PaymentStatus,
  gross_amount: z.string(),
  fee_amount: z.string(),
  net_amount: z.string(),
  fee_percentage: z.string(),
  fee_flat: z.string(),
  refunded_amount: z.string(),
  refund_reserved_amount: z.string(),
  currency: z.string(),
  failure_code: z.string().nullable(),
  failure_source: z.string().nullable(),
  bank_connector: z.string(),
  under_mandate: z.boolean(),
  debtor_bank_id: z.string().nullable(),
  consent_status: ConsentStatus,
  expires_at: z.string(),
  settle_at: z.string().nullable(),
  created_at: z.string(),
  /** Until when it can be disputed. */
  disputable_until: z.string(),
  /** The transaction's time by the database's clock, as in the records below. */
  now: z.string(),
})
export type ToldPayment = z.infer<typeof ToldPayment>

export const ToldEvent = z.object({
  previous_status: PaymentStatus.nullable(),
  new_status: PaymentStatus,
  changed_by: ChangedBy,
  created_at: z.string(),
  /** The job that made it; null for everything else. */
  job: z.string().nullable(),
  /** Whether the payer's browser brought the bank's word back, and not the bank's own callback. */
  by_browser: z.boolean(),
})
export type ToldEvent = z.infer<typeof ToldEvent>

export const ToldRefund = z.object({
  id: z.string(),
  amount: z.string(),
  status: RefundStatus,
  failure_code: z.string().nullable(),
  attempt_count: z.int(),
  resume_at: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** The dispute whose resolution ordered it. */
  dispute_id: z.string().nullable(),
})
export type ToldRefund = z.infer<typeof ToldRefund>

export const ToldDelivery = z.object({
  id: z.string(),
  merchant_id: z.string(),
  payment_id: z.string().nullable(),
  event_id: z.string(),
  event_type: z.string(),
  status: DeliveryStatus,
  attempt_count: z.int(),
  last_error: z.string().nullable(),
  /** Null when no attempt is planned. */
  next_retry_at: z.string().nullable(),
  delivered_at: z.string().nullable(),
  created_at: z.string(),
  /** Whether somebody asked for it to try the endpoint: it is about nothing that there is. */
  is_test: z.boolean(),
  /** Whether a worker is sending it at this moment. */
  is_leased: z.boolean(),
  /** The payment's earlier event whose first attempt this one waits for (decision 38). */
  waits_for: z.string().nullable(),
  has_endpoint: z.boolean(),
  is_paused: z.boolean(),
  now: z.string(),
})
export type ToldDelivery = z.infer<typeof ToldDelivery>

export const ToldAttempt = z.object({
  delivery_id: z.string(),
  attempt: z.int(),
  outcome: z.string(),
  http_status: z.int().nullable(),
  duration_ms: z.int(),
  started_at: z.string(),
})
export type ToldAttempt = z.infer<typeof ToldAttempt>

export const ToldDispute = z.object({
  id: z.string(),
  merchant_id: z.string(),
  payment_id: z.string(),
  status: DisputeStatus,
  opened_by: OpenedBy,
  reason: DisputeReason,
  evidence_due_at: z.string(),
  has_evidence: z.boolean(),
  assignee: z.string().nullable(),
  was_escalated: z.boolean(),
  refund_id: z.string().nullable(),
  created_at: z.string(),
  resolved_at: z.string().nullable(),
  gross_amount: z.string(),
  refunded_amount: z.string(),
  refund_reserved_amount: z.string(),
  currency: z.string(),
  now: z.string(),
})
export type ToldDispute = z.infer<typeof ToldDispute>

export const ToldDisputeEvent = z.object({
  dispute_id: z.string(),
  previous_status: DisputeStatus.nullable(),
  new_status: DisputeStatus,
  event: z.string(),
  changed_by: DisputeChangedBy,
  actor_name: z.string().nullable(),
  /** What an operator gave as the reason; null for everybody else's words. */
  operator_note: z.string().nullable(),
  created_at: z.string(),
})
export type ToldDisputeEvent = z.infer<typeof ToldDisputeEvent>

export const ToldMerchant = z.object({
  id: z.string(),
  trading_name: z.string(),
  realm_slug: z.string().nullable(),
  kyb_status: KybStatus,
  is_active: z.boolean(),
  payout_held: z.boolean(),
  payout_held_at: z.string().nullable(),
  has_endpoint: z.boolean(),
  is_paused: z.boolean(),
  created_at: z.string(),
  /** Counted no further than a thousand, as open disputes are. */
  dead_deliveries: z.int(),
  open_disputes: z.int(),
  now: z.string(),
})
export type ToldMerchant = z.infer<typeof ToldMerchant>

/** Something that operators, or the merchant's own people, did (src/audit). */
export const ToldAct = z.object({
  action: z.string(),
  actor_name: z.string(),
  actor_role: z.string(),
  reason: z.string().nullable(),
  subject_id: z.string(),
  kyb_before: z.string().nullable(),
  kyb_status: z.string().nullable(),
  payout_held: z.boolean().nullable(),
  is_active: z.boolean().nullable(),
  was_paused: z.boolean().nullable(),
  is_paused: z.boolean().nullable(),
  had_endpoint: z.boolean(),
  has_endpoint: z.boolean(),
  /** Milliseconds that were let pass in the sandbox, as text. */
  advance_ms: z.string().nullable(),
  created_at: z.string(),
})
export type ToldAct = z.infer<typeof ToldAct>
