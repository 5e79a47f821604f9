import { z } from 'zod'
import { Money, Currency, Timestamp, Uuid, reasonText } from './common.ts'
import { RefundStatus } from './refunds.ts'

export const DisputeStatus = z.enum([
  'OPEN',
  'UNDER_REVIEW',
  'ESCALATED',
  'RESOLVED_MERCHANT_FAVOUR',
  'RESOLVED_PAYER_FAVOUR',
])
export type DisputeStatus = z.infer<typeof DisputeStatus>

export const DisputeReason = z.enum([
  'ITEM_NOT_RECEIVED',
  'DUPLICATE_PAYMENT',
  'INCORRECT_AMOUNT',
  'UNAUTHORISED',
  'OTHER',
])
export type DisputeReason = z.infer<typeof DisputeReason>

export const OpenedBy = z.enum(['PAYER', 'MERCHANT', 'PLATFORM'])
export type OpenedBy = z.infer<typeof OpenedBy>

/** The actor of a change: the party that opened the dispute, the merchant, an operator, or the job that watches deadlines. */
export const DisputeChangedBy = z.enum(['PAYER', 'MERCHANT', 'PLATFORM', 'BATCH_JOB'])
export type DisputeChangedBy = z.infer<typeof DisputeChangedBy>

/** Statements, notes and evidence of one request. */
export const StatementText = reasonText(5_000)

/** A dispute in a merchant's list: without the evidence, which is long. */
export const DisputeSummary = z.strictObject({
  id: Uuid,
  payment_id: Uuid,
  merchant_id: Uuid,
  end_to_end_id: z.string(),
  opened_by: OpenedBy,
  reason: DisputeReason,
  status: DisputeStatus,
  gross_amount: Money,
  refundable_amount: Money.meta({ description: 'the amount of the payment that can still be refunded' }),
  currency: Currency,
  payer_statement: z.string().nullable(),
  statement: z.string().nullable().meta({ description: 'the statement of the merchant or operator who opened it' }),
  has_evidence: z.boolean(),
  evidence_due_at: Timestamp,
  evidence_missing: z.boolean().meta({ description: 'whether the deadline has passed without evidence' }),
  resolution_note: z.string().nullable(),
  refund: z
    .strictObject({ refund_id: Uuid, refund_status: RefundStatus, amount: Money })
    .nullable()
    .meta({ description: 'the refund that the resolution ordered; the last one, if the bank rejected one before' }),
  opened_at: Timestamp,
  updated_at: Timestamp,
  resolved_at: Timestamp.nullable(),
})
export type DisputeSummary = z.infer<typeof DisputeSummary>

/** A dispute as its merchant sees it (contract §Dispute; decisions 22 to 24). */
export const Dispute = DisputeSummary.extend({ merchant_evidence: z.string().nullable() })
export type Dispute = z.infer<typeof Dispute>

/** An event of a dispute. Merchants read null instead of an operator's name. */
export const DisputeEvent = z.strictObject({
  ordinal: z.string(),
  previous_status: DisputeStatus.nullable(),
  new_status: DisputeStatus,
  event: z.string().meta({ examples: ['opening', 'evidence', 'escalation'] }),
  changed_by: DisputeChangedBy,
  actor: z.string().nullable(),
  note: z.string().nullable(),
  created_at: Timestamp,
})
export type DisputeEvent = z.infer<typeof DisputeEvent>

export const DisputeWithEvents = Dispute.extend({ events: z.array(DisputeEvent) })
export type DisputeWithEvents = z.infer<typeof DisputeWithEvents>

const ofOperators = {
  trading_name: z.string(),
  realm_slug: z.string().nullable(),
  due_at: Timestamp.nullable().meta({
    description: 'the deadline of the next step, as in the inbox; null once it is resolved',
  }),
  assignee: z.string().nullable(),
  escalation_reason: z.string().nullable(),
  resolved_by: z.string().nullable(),
}

/** A dispute in the operators' list. */
export const AdminDisputeSummary = DisputeSummary.extend(ofOperators)
export type AdminDisputeSummary = z.infer<typeof AdminDisputeSummary>

/** A dispute as operators see it. */
export const AdminDispute = Dispute.extend(ofOperators)
export type AdminDispute = z.infer<typeof AdminDispute>

export const AdminDisputeWithEvents = AdminDispute.extend({ events: z.array(DisputeEvent) })
export type AdminDisputeWithEvents = z.infer<typeof AdminDisputeWithEvents>
