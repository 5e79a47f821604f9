import { z } from 'zod'
import {
  Amount,
  IdParams,
  Instant,
  Limit,
  Money,
  Currency,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  expecting,
  listOf,
  nameText,
  reasonText,
} from './common.ts'
import { operation } from './operation.ts'
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

/** The values of the dispute that the operator saw when deciding. */
const ExpectedDispute = expecting({ status: DisputeStatus, refundable_amount: Amount.optional() })

const RAISING = ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_DISPUTABLE', 'DISPUTE_ALREADY_OPEN'] as const

export const raiseDispute = operation({
  name: 'raiseDispute',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payments/{id}/dispute',
  summary: 'Dispute a settled or refunded payment as its merchant',
  access: ['merchant'],
  permission: 'refund payments',
  evenIfInactive: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ reason: DisputeReason, statement: StatementText.optional() }),
  replies: { 201: Dispute },
  errors: RAISING,
})

const ListQuery = {
  status: DisputeStatus.optional(),
  payment_id: z.string().optional(),
  from: Instant.optional().meta({ description: 'opened at this time or later' }),
  to: Instant.optional().meta({ description: 'opened before this time' }),
  order: z.enum(['newest', 'oldest', 'urgent']).default('newest').meta({
    description: '"urgent": first the unresolved, by deadline, then the others, newest first',
  }),
  limit: Limit,
  cursor: z.string().max(128).optional(),
}

export const listDisputes = operation({
  name: 'listDisputes',
  method: 'GET',
  path: '/api/v1/portal/disputes',
  summary: "List the merchant's disputes",
  access: ['merchant'],
  permission: 'read payments',
  params: None,
  query: z.strictObject(ListQuery),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(DisputeSummary) },
  errors: [],
})

export const getDispute = operation({
  name: 'getDispute',
  method: 'GET',
  path: '/api/v1/portal/disputes/{id}',
  summary: 'Get a dispute with its events',
  access: ['merchant'],
  permission: 'read payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: DisputeWithEvents },
  errors: ['DISPUTE_NOT_FOUND'],
})

export const submitEvidence = operation({
  name: 'submitEvidence',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/portal/disputes/{id}',
  summary: 'Submit evidence for a dispute',
  description: 'The dispute is under review from then on. Further evidence is added to what was submitted before.',
  access: ['merchant'],
  permission: 'refund payments',
  evenIfInactive: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ merchant_evidence: reasonText(20_000) }),
  replies: { 200: DisputeWithEvents },
  errors: ['DISPUTE_NOT_FOUND', 'DISPUTE_CLOSED'],
})

export const acceptDispute = operation({
  name: 'acceptDispute',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/disputes/{id}/accept',
  summary: 'Accept a dispute',
  description: "Resolves the dispute in the payer's favour, with a refund if one is requested.",
  access: ['merchant'],
  permission: 'refund payments',
  evenIfInactive: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({ note: StatementText.optional(), refund: z.boolean().default(false), expected: ExpectedDispute })
    .optional(),
  bodyOptional: true,
  replies: { 200: DisputeWithEvents },
  errors: ['DISPUTE_NOT_FOUND', 'DISPUTE_CLOSED', 'DISPUTE_ESCALATED', 'PAYMENT_ALREADY_REFUNDED', 'CHANGED_MEANWHILE'],
})

export const listAdminDisputes = operation({
  name: 'listAdminDisputes',
  method: 'GET',
  path: '/api/v1/admin/disputes',
  summary: 'List the disputes of all merchants',
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: z.strictObject({ ...ListQuery, merchant_id: z.string().optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(AdminDisputeSummary) },
  errors: [],
})

export const getAdminDispute = operation({
  name: 'getAdminDispute',
  method: 'GET',
  path: '/api/v1/admin/disputes/{id}',
  summary: 'Get a dispute of any merchant with its events',
  access: ['platform'],
  permission: 'read merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: AdminDisputeWithEvents },
  errors: ['DISPUTE_NOT_FOUND'],
})

export const raiseAdminDispute = operation({
  name: 'raiseAdminDispute',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payments/{id}/dispute',
  summary: 'Dispute a payment of any merchant',
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ reason: DisputeReason, statement: StatementText.optional() }),
  replies: { 201: AdminDispute },
  errors: RAISING,
})

export const escalateDispute = operation({
  name: 'escalateDispute',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/disputes/{id}/escalate',
  summary: 'Escalate a dispute',
  description: 'Only an OWNER can resolve an escalated dispute.',
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ reason: reasonText(500), assignee: nameText(254).optional(), expected: ExpectedDispute }),
  replies: { 200: AdminDisputeWithEvents },
  errors: ['DISPUTE_NOT_FOUND', 'DISPUTE_CLOSED', 'DISPUTE_ESCALATED', 'CHANGED_MEANWHILE'],
})

export const resolveDispute = operation({
  name: 'resolveDispute',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/disputes/{id}/resolve',
  summary: 'Resolve a dispute',
  description:
    'In favour of the merchant or the payer, with a refund if one is requested. Also orders a refund again that the bank rejected.',
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({
    status: z.enum(['RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR']),
    resolution_note: StatementText,
    refund: z.boolean().default(false),
    expected: ExpectedDispute,
  }),
  replies: { 200: AdminDisputeWithEvents },
  errors: [
    'DISPUTE_NOT_FOUND',
    'DISPUTE_CLOSED',
    'DISPUTE_NOT_UNDER_REVIEW',
    'PAYMENT_ALREADY_REFUNDED',
    'CHANGED_MEANWHILE',
  ],
})

export const disputeAsPayer = operation({
  name: 'disputeAsPayer',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/sandbox/payments/{id}/dispute',
  summary: 'Dispute a payment as its payer',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ reason: DisputeReason, payer_statement: StatementText.optional() }),
  replies: { 201: Dispute },
  errors: RAISING,
})
