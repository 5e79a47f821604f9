import { z } from 'zod'
import {
  Currency,
  EXAMINED_PAGES,
  IdParams,
  Limit,
  MerchantNames,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  reasonText,
  text,
} from './common.ts'
import { operation, streamOperation } from './operation.ts'
import { ListQuery, Payment, PaymentSummary } from './payments.ts'
import { PAYOUT_FAILURES } from './payouts.ts'
import { RefundRow } from './refunds.ts'

/** A frame of the stream for one event: the fields that a list shows, without personal data. */
export const StreamedEvent = z.strictObject({
  event_id: z.string(),
  event_type: z.string(),
  payment_id: Uuid.nullable(),
  merchant_id: Uuid,
  realm_slug: z.string().nullable().meta({ description: 'null for merchants' }),
  created_at: Timestamp,
})
export type StreamedEvent = z.infer<typeof StreamedEvent>

/** Lists that may have changed without an event: a hint to fetch them again. */
export const StreamedChange = z.strictObject({
  of: z.array(z.enum(['merchants', 'disputes', 'audit', 'deliveries'])).meta({
    description:
      '"deliveries": a delivery has become DEAD, or is no longer DEAD; the others are sent to operators only',
  }),
})
export type StreamedChange = z.infer<typeof StreamedChange>

/** The reason why the service ends a stream, as an error. */
export const StreamEnd = z.strictObject({ code: z.string(), message: z.string() })
export type StreamEnd = z.infer<typeof StreamEnd>

/** A cursor of the feed (decision 56), or `latest`. */
const StreamCursor = z.string().max(128)

export const streamEvents = streamOperation({
  name: 'streamEvents',
  method: 'GET',
  path: '/api/v1/events/stream',
  summary: 'Stream events as server-sent events',
  description: 'Sends events as they are committed. Operators receive the events of all merchants.',
  access: ['merchant', 'platform'],
  permission: { merchant: 'read payments', platform: 'read merchants' },
  params: None,
  query: z.strictObject({
    after: StreamCursor.optional().meta({
      description: 'a cursor of the feed of events, or "latest", which is the default',
    }),
  }),
  headers: z.object({ 'last-event-id': StreamCursor.optional() }),
  body: NoBody,
  replies: { 200: z.string() },
  stream: { event: StreamedEvent, changed: StreamedChange, end: StreamEnd },
  errors: [],
})

/** A count with an upper limit. */
const Counted = z.int().meta({ description: 'counted up to 10,000' })

const ByStatus = z.strictObject({
  Initiated: z.int(),
  AwaitingAuthorisation: z.int(),
  Authorised: z.int(),
  Settled: z.int(),
  Failed: z.int(),
  Refunded: z.int(),
})

/** The key figures of one merchant, or of all. */
export const Overview = z.strictObject({
  as_of: Timestamp,
  payments: z.strictObject({
    by_status: ByStatus.meta({ description: 'created in the last 24 hours; counted over up to 20,000 payments' }),
    per_minute: z.array(z.int()).length(60).meta({
      description: 'created in each of the last 60 minutes, the oldest first; counted over up to 100,000 payments',
    }),
  }),
  money_today: z
    .array(
      z.strictObject({
        currency: Currency,
        count: z.int(),
        gross_amount: Money,
        fee_amount: Money,
        net_amount: Money,
      }),
    )
    .meta({ description: 'settled since midnight UTC; of up to 20,000 payments' }),
  kyb: z
    .strictObject({ pending: Counted, oldest_pending_at: Timestamp.nullable() })
    .nullable()
    .meta({ description: 'null for merchants' }),
  deliveries: z.strictObject({ pending: Counted, dead: Counted, oldest_due_at: Timestamp.nullable() }),
  disputes: z.strictObject({
    open: Counted,
    under_review: Counted,
    escalated: Counted,
    oldest_open_at: Timestamp.nullable(),
    next_evidence_due_at: Timestamp.nullable(),
  }),
  worker: z.strictObject({
    lag_ms: z.int().meta({ description: 'how long the oldest due job has waited' }),
  }),
})
export type Overview = z.infer<typeof Overview>

const overview = { params: None, query: None, headers: NoHeaders, body: NoBody, replies: { 200: Overview }, errors: [] }

export const getOverview = operation({
  name: 'getOverview',
  method: 'GET',
  path: '/api/v1/admin/overview',
  summary: 'Get key figures of all merchants',
  description: 'Payments, money, KYB, webhooks and disputes.',
  access: ['platform'],
  permission: 'read merchants',
  ...overview,
})

export const getPortalOverview = operation({
  name: 'getPortalOverview',
  method: 'GET',
  path: '/api/v1/portal/overview',
  summary: 'Get key figures of the merchant',
  description: 'Payments, money, webhooks and disputes.',
  access: ['merchant'],
  permission: 'read payments',
  ...overview,
})

export const InboxKind = z.enum([
  'kyb_pending',
  'kyb_suspended',
  'payouts_held',
  'registration_stuck',
  'dispute_evidence_due',
  'dispute_under_review',
  'dispute_escalated',
  'dispute_refund_rejected',
  'deliveries_dead',
  'webhook_endpoint_gone',
  'secret_overlap_ending',
  'payouts_unanswered',
  'payouts_waiting',
  'payout_returned_late',
  'payment_unanswered',
  'payment_settled_late',
  'refunds_unanswered',
  'refunds_waiting',
  'refund_returned',
  'statement_credit_of_failed',
  'statement_debit_of_failed',
  'reconciliation_different',
  'reconciliation_failed',
])
export type InboxKind = z.infer<typeof InboxKind>

/** A task that needs the action of a person. */
export const InboxItem = z.strictObject({
  kind: InboxKind,
  id: Uuid.meta({ description: 'the id of its subject: a dispute, a merchant, a registration, a reconciliation' }),
  merchant_id: Uuid.nullable().meta({
    description: 'null for a registration without a merchant, and for a reconciliation',
  }),
  realm_slug: z.string().nullable(),
  trading_name: z.string(),
  summary: z.string().meta({ description: 'one sentence' }),
  count: Counted,
  since: Timestamp,
  due_at: Timestamp,
  overdue: z.boolean(),
  command: z.string().meta({ description: 'the command for the task', examples: ['svc kyb show acme-ltd'] }),
})
export type InboxItem = z.infer<typeof InboxItem>

const inbox = {
  params: None,
  query: z.strictObject({ limit: Limit, cursor: z.string().max(256).optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(InboxItem) },
  errors: [],
}

export const getInbox = operation({
  name: 'getInbox',
  method: 'GET',
  path: '/api/v1/admin/inbox',
  summary: 'List tasks for operators, most urgent first',
  description: 'Returns the 500 most urgent tasks of each kind.',
  access: ['platform'],
  permission: 'read merchants',
  ...inbox,
})

export const getPortalInbox = operation({
  name: 'getPortalInbox',
  method: 'GET',
  path: '/api/v1/portal/inbox',
  summary: 'List tasks for the merchant, most urgent first',
  description: 'Returns the 500 most urgent tasks of each kind.',
  access: ['merchant'],
  permission: 'read payments',
  ...inbox,
})

const ofMerchant = { merchant_id: Uuid, ...MerchantNames }

/** A payment in the operators' list. */
export const AdminPaymentSummary = PaymentSummary.extend(ofMerchant)
export type AdminPaymentSummary = z.infer<typeof AdminPaymentSummary>

/** A payment as operators see it. */
export const AdminPayment = Payment.extend({
  ...ofMerchant,
  refunds: z.array(RefundRow).meta({ description: 'the oldest first; up to 50 of them' }),
})
export type AdminPayment = z.infer<typeof AdminPayment>

export const listAdminPayments = operation({
  name: 'listAdminPayments',
  method: 'GET',
  path: '/api/v1/admin/payments',
  summary: 'List payments of all merchants, newest first',
  description: EXAMINED_PAGES,
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: ListQuery.extend({ merchant_id: z.string().optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(AdminPaymentSummary) },
  errors: [],
})

export const getAdminPayment = operation({
  name: 'getAdminPayment',
  method: 'GET',
  path: '/api/v1/admin/payments/{id}',
  summary: 'Get a payment of any merchant with its history',
  access: ['platform'],
  permission: 'read merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: AdminPayment },
  errors: ['PAYMENT_NOT_FOUND'],
})

const FOR_AUDIT = reasonText(500).meta({ description: 'the reason, for the audit trail' })

const ResolvePayment = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('TAKEN').meta({ description: 'the bank has the order' }),
    bank_payment_id: text(40).meta({ description: "the bank's id of the payment; the bank is asked about it at once" }),
    reason: FOR_AUDIT,
  }),
  z.strictObject({
    outcome: z.literal('NOT_TAKEN').meta({ description: 'the bank has no such order: the payment fails' }),
    failure_code: z.enum(PAYOUT_FAILURES).default('BANK_ERROR'),
    reason: FOR_AUDIT,
  }),
  z.strictObject({
    outcome: z.enum(['RETURNED', 'CREDITED']).meta({
      description:
        'of a payment that its bank settled after it had failed: the payer gets the money back, or (by an OWNER) it is ' +
        "added to the merchant's balance",
    }),
    reason: FOR_AUDIT,
  }),
])
export type ResolvePayment = z.output<typeof ResolvePayment>

export const resolvePayment = operation({
  name: 'resolvePayment',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payments/{id}/resolve',
  summary: 'Resolve a payment whose bank was silent or late',
  description:
    'For payments of the inbox (payment_unanswered): ask the bank first. TAKEN: the service asks the bank about this id, ' +
    'and the payment is Settled when the bank says so. NOT_TAKEN: the payment is Failed; if the bank executes it ' +
    'after all, the payer has paid for nothing. For those that their bank settled after they had failed ' +
    '(payment_settled_late): RETURNED, or by an OWNER alone CREDITED. The payment stays Failed.',
  access: ['platform'],
  permission: 'operate merchants',
  needsFreshSignIn: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: ResolvePayment,
  replies: { 200: AdminPayment },
  errors: ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_RESOLVABLE', 'BANK_UNAVAILABLE'],
})
