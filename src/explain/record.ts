import { z } from 'zod'
import { KybStatus } from '../wire/admin.ts'
import { DisputeChangedBy, DisputeReason, DisputeStatus } from '../wire/disputes.ts'
import { ChangedBy, ConsentStatus, PaymentStatus } from '../wire/payments.ts'
import { RefundStatus } from '../wire/refunds.ts'
import { DeliveryStatus } from '../wire/webhooks.ts'

const Text = z.string()
const TextOrNull = z.string().nullable()

/** The record that an id names, and the merchant that owns it. */
export const Subject = z.object({
  kind: z.enum(['payment', 'delivery', 'dispute', 'merchant']),
  id: Text,
  merchant_id: Text,
})
export type Subject = z.infer<typeof Subject>

/** Where a merchant's webhooks go: to an address, to one that is paused, or to none. */
const Endpoint = z.enum(['set', 'paused', 'none'])
export type Endpoint = z.infer<typeof Endpoint>

/** Why a delivery waits without a time for its next attempt. */
const Held = z.enum(['paused', 'none', 'too old']).nullable()
export type Held = z.infer<typeof Held>

/** The time of the read by the database's clock, and the period whose actions on the merchant concern the subject. */
const COMMON = { id: Text, now: Text, since: TextOrNull, until: TextOrNull }
export type CommonFacts = { status: string; now: string; since: string | null; until: string | null }

/** A payment without anything of its payer. Amounts are numeric(19,4) text. */
export const PaymentFacts = z.object({
  ...COMMON,
  status: PaymentStatus,
  gross_amount: Text,
  fee_amount: Text,
  net_amount: Text,
  fee_percentage: Text,
  fee_flat: Text,
  refunded_amount: Text,
  refund_reserved_amount: Text,
  remaining_amount: Text,
  currency: Text,
  failure_code: TextOrNull,
  failure_source: TextOrNull,
  bank_connector: Text,
  under_mandate: z.boolean(),
  consent_status: ConsentStatus,
  expires_at: Text,
  settle_at: TextOrNull,
  disputable_until: Text,
  /** Refunds that the bank has not answered, when it is asked next, and when about the newest of them. */
  pending_refund_count: z.int(),
  next_refund_at: TextOrNull,
  newest_refund_at: TextOrNull,
  dispute_count: z.int(),
  open_dispute_id: TextOrNull,
  open_dispute_status: DisputeStatus.nullable(),
  open_dispute_reason: DisputeReason.nullable(),
  endpoint: Endpoint,
  has_held_webhooks: z.boolean(),
})
export type PaymentFacts = z.infer<typeof PaymentFacts>

export const DeliveryFacts = z.object({
  ...COMMON,
  payment_id: TextOrNull,
  event_type: Text,
  status: DeliveryStatus,
  attempt_count: z.int(),
  last_error: TextOrNull,
  /** Null when no attempt is planned. */
  next_retry_at: TextOrNull,
  delivered_at: TextOrNull,
  /** Whether it only tests the endpoint. */
  is_test: z.boolean(),
  /** Whether a worker is sending it at this moment. */
  is_leased: z.boolean(),
  held: Held,
  endpoint: Endpoint,
  /** The payment's earlier event whose first attempt this one waits for (decision 38). */
  waits_for: TextOrNull,
})
export type DeliveryFacts = z.infer<typeof DeliveryFacts>

export const DisputeFacts = z.object({
  ...COMMON,
  payment_id: Text,
  status: DisputeStatus,
  reason: DisputeReason,
  evidence_due_at: Text,
  has_evidence: z.boolean(),
  assignee: TextOrNull,
  was_escalated: z.boolean(),
  resolved_at: TextOrNull,
  gross_amount: Text,
  remaining_amount: Text,
  currency: Text,
  /** Of the refund that its resolution ordered last. */
  refund_status: RefundStatus.nullable(),
  refund_amount: TextOrNull,
})
export type DisputeFacts = z.infer<typeof DisputeFacts>

export const MerchantFacts = z.object({
  ...COMMON,
  trading_name: Text,
  realm_slug: TextOrNull,
  status: KybStatus,
  /** Whether the last KYB decision rejected it: one that was never approved was not suspended. */
  was_rejected: z.boolean(),
  is_active: z.boolean(),
  payout_held: z.boolean(),
  payout_held_at: TextOrNull,
  endpoint: Endpoint,
  /** Counted no further than a thousand, as open disputes are. */
  dead_delivery_count: z.int(),
  open_dispute_count: z.int(),
})
export type MerchantFacts = z.infer<typeof MerchantFacts>

/** A row of the timeline. `nth` counts its source from the newest, 1, so that what is beyond a limit can be left out. */
const row = <S extends string, F extends z.ZodRawShape>(source: S, facts: F) =>
  z.object({
    source: z.literal(source),
    at: Text,
    from: TextOrNull,
    to: TextOrNull,
    actor: TextOrNull,
    ref: TextOrNull,
    nth: z.int(),
    facts: z.object(facts),
  })

const Money = { amount: Text, currency: Text }
const PaymentMoveRow = row('payment', { job: TextOrNull, by_browser: z.boolean() }).extend({
  from: PaymentStatus.nullable(),
  to: PaymentStatus,
  actor: ChangedBy,
})
const DisputeEventRow = row('dispute', {
  ...Money,
  event: Text,
  changed_by: DisputeChangedBy,
  reason: DisputeReason,
  operator_note: TextOrNull,
}).extend({ from: DisputeStatus.nullable(), to: DisputeStatus })
const ActionRow = row('action', {
  action: Text,
  role: Text,
  reason: TextOrNull,
  had_endpoint: z.boolean(),
  has_endpoint: z.boolean(),
})
export type PaymentMoveRow = z.infer<typeof PaymentMoveRow>
export type DisputeEventRow = z.infer<typeof DisputeEventRow>
export type ActionRow = z.infer<typeof ActionRow>

const RefundFacts = { ...Money, failure_code: TextOrNull, attempt_count: z.int(), is_ordered: z.boolean() }

export const TimelineRow = z.discriminatedUnion('source', [
  PaymentMoveRow,
  DisputeEventRow,
  ActionRow,
  row('registration', {}),
  row('refund', RefundFacts).extend({ to: RefundStatus }),
  row('webhook', { event_type: Text, event_id: Text, is_test: z.boolean(), held: Held }).extend({ to: DeliveryStatus }),
  row('attempt', {
    event_type: Text,
    attempt: z.int(),
    http_status: z.int().nullable(),
    duration_ms: z.int(),
    is_replayed: z.boolean(),
  }).extend({ to: Text }),
  row('refund due', RefundFacts),
  row('evidence due', {}),
  row('attempt due', { event_type: Text, attempt: z.int() }),
])
export type TimelineRow = z.infer<typeof TimelineRow>

/** How many rows of each source a timeline shows; attempts are counted for each webhook. */
export type TimelineLimits = Readonly<Record<'refund' | 'dispute' | 'webhook' | 'attempt' | 'action', number>>

export type TimelineQuery = {
  subject: Subject
  limits: TimelineLimits
  /** Whether the viewer may see webhooks. */
  hasWebhooks: boolean
  /** Actions on the merchant before and after these times do not concern the subject. */
  since: string | null
  until: string | null
}
