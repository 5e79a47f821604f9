import { z } from 'zod'
import {
  Amount,
  IdParams,
  Instant,
  Limit,
  NoBody,
  NoHeaders,
  None,
  expecting,
  listOf,
  nameText,
  reasonText,
} from './common.ts'
import {
  DisputeStatus,
  DisputeReason,
  StatementText,
  DisputeSummary,
  Dispute,
  DisputeWithEvents,
  AdminDisputeSummary,
  AdminDispute,
  AdminDisputeWithEvents,
} from './dispute-fields.ts'
import { operation } from './operation.ts'

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
  errors: [
    'DISPUTE_NOT_FOUND',
    'DISPUTE_CLOSED',
    'DISPUTE_ESCALATED',
    'PAYMENT_ALREADY_REFUNDED',
    'REFUND_ACCOUNT_UNKNOWN',
    'CHANGED_MEANWHILE',
  ],
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
  needsFreshSignIn: true,
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
    'REFUND_ACCOUNT_UNKNOWN',
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
