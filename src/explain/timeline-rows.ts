import { z } from 'zod'
import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import { outcomeText } from '../lib/outcome-text.ts'
import { PLATFORM_ROLES } from '../lib/permissions.ts'
import { attemptsMax } from '../webhooks/states.ts'
import { DisputeChangedBy, DisputeReason, DisputeStatus } from '../wire/disputes.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import { ChangedBy, PaymentStatus } from '../wire/payments.ts'
import { PayoutStatus } from '../wire/payouts.ts'
import { RefundStatus } from '../wire/refunds.ts'
import { DeliveryStatus } from '../wire/webhooks.ts'
import { actionText } from './actions.ts'
import { HELD_TEXTS } from './delivery.ts'
import { DISPUTE_PHRASES } from './dispute.ts'
import { payoutPhrase } from './payout.ts'
import { Held } from './subjects-sql.ts'
import { countText, moneyText } from './text.ts'

const Text = z.string()
const TextOrNull = z.string().nullable()

/** A row of one source of the union, with the facts that its phrase needs. */
const row = <Source extends string, Facts extends z.ZodRawShape>(source: Source, facts: Facts) =>
  z.object({
    source: z.literal(source),
    at: Text,
    from: TextOrNull,
    to: TextOrNull,
    /** Null where the viewer may not see who it was. */
    actor: TextOrNull,
    ref: TextOrNull,
    /** What the actor wrote; null where the viewer may not read it. */
    words: TextOrNull,
    /** Counts its source from the newest, 1, so that what is beyond a limit can be left out. */
    nth: z.int(),
    facts: z.object(facts),
  })

/** Checks such a row, and adds the kind and the phrase of its entry. */
const phrased = <Row extends z.ZodObject>(
  schema: Row,
  kind: TimelineEntry['kind'],
  phrase: (row: z.output<Row>) => string,
) => schema.transform((it) => ({ ...it, kind, text: phrase(it) }))

/** The phrase of a payment's move needs the payment as well (payment.ts). */
const PaymentMoveRow = row('payment', { job: TextOrNull, by_browser: z.boolean() }).extend({
  from: PaymentStatus.nullable(),
  to: PaymentStatus,
  actor: ChangedBy,
})
export type PaymentMoveRow = z.infer<typeof PaymentMoveRow>

const Money = { amount: Text, currency: Text }
const DisputeEventRow = row('dispute', {
  ...Money,
  event: Text,
  changed_by: DisputeChangedBy,
  reason: DisputeReason,
}).extend({ from: DisputeStatus.nullable(), to: DisputeStatus })
export type DisputeEventRow = z.infer<typeof DisputeEventRow>

const PayoutEventRow = row('payout', { ...Money, failure_code: TextOrNull }).extend({ to: PayoutStatus })
export type PayoutEventRow = z.infer<typeof PayoutEventRow>

const ActionRow = row('action', { action: Text, role: Text, had_endpoint: z.boolean(), has_endpoint: z.boolean() })
export type ActionRow = z.infer<typeof ActionRow>

const RefundFacts = { ...Money, failure_code: TextOrNull, attempt_count: z.int(), is_ordered: z.boolean() }
const RefundRow = row('refund', RefundFacts).extend({ to: RefundStatus })

const AttemptRow = row('attempt', {
  event_type: Text,
  attempt: z.int(),
  http_status: z.int().nullable(),
  duration_ms: z.int(),
  is_replayed: z.boolean(),
}).extend({ to: Text })

const WebhookFacts = { event_type: Text, event_id: Text, is_test: z.boolean(), held: Held }

/** The rows of all sources, and the phrase of each. */
export const TimelineRow = z.discriminatedUnion('source', [
  PaymentMoveRow,
  phrased(DisputeEventRow, 'dispute', (it) => {
    const { event } = it.facts
    return isDisputeStep(event) ? DISPUTE_PHRASES[event](it) : event
  }),
  ActionRow.transform((it) => {
    const isOperators = PLATFORM_ROLES.some((role) => role === it.facts.role)
    const text = `${isOperators ? 'an operator' : 'the merchant'} ${actionText(it)}`
    return { ...it, kind: isOperators ? ('operator' as const) : ('merchant' as const), to: null, text }
  }),
  phrased(row('registration', {}), 'merchant', () => 'the merchant was registered'),
  phrased(RefundRow, 'refund', refundPhrase),
  phrased(
    row('settlement', Money),
    'settlement',
    ({ facts }) => `a settlement of ${moneyText(facts.amount, facts.currency)} was closed`,
  ),
  phrased(PayoutEventRow, 'payout', payoutPhrase),
  phrased(row('settlement due', {}), 'due', () => 'the period ends, and its settlement is closed'),
  phrased(row('webhook', WebhookFacts).extend({ to: DeliveryStatus }), 'webhook', ({ facts }) => {
    const text = `${facts.is_test ? 'test ' : ''}webhook ${facts.event_type} (${facts.event_id})`
    return facts.held === null ? text : `${text}, which ${HELD_TEXTS[facts.held]}`
  }),
  phrased(AttemptRow, 'attempt', ({ to, facts: { attempt, http_status, duration_ms, is_replayed } }) => {
    const answer = to === 'delivered' ? `delivered with HTTP ${http_status ?? '2xx'}` : outcomeText(to)
    return `${is_replayed ? 'replayed: ' : ''}attempt ${attempt} of ${attemptsMax}: ${answer}, after ${duration_ms} ms`
  }),
  phrased(row('refund due', RefundFacts), 'due', ({ facts: { amount, currency, attempt_count: count } }) => {
    const silent = count === 0 ? '' : ` (${countText(count, 'request')} without an answer so far)`
    return `the bank is asked to refund ${moneyText(amount, currency)}${silent}`
  }),
  phrased(row('evidence due', {}), 'due', () => "the deadline for the merchant's evidence"),
  phrased(
    row('attempt due', { event_type: Text, attempt: z.int() }),
    'due',
    ({ facts: { attempt, event_type } }) => `attempt ${attempt} of ${attemptsMax} of ${event_type} is due`,
  ),
])
export type TimelineRow = z.infer<typeof TimelineRow>

function isDisputeStep(event: string): event is keyof typeof DISPUTE_PHRASES {
  return Object.hasOwn(DISPUTE_PHRASES, event)
}

function refundPhrase({ from, to, facts }: z.infer<typeof RefundRow>): string {
  const money = moneyText(facts.amount, facts.currency)
  const code = facts.failure_code
  if (from === null)
    return `a refund of ${money} ${facts.is_ordered ? 'was ordered with the resolution of a dispute' : 'was requested'}`
  if (to === 'EXECUTED') return `the bank refunded ${money}`
  const reason = code !== null && isFailureCode(code) ? `${failureOf(code).reason} (${code})` : 'no reason is recorded'
  return `the bank refused to refund ${money}: ${reason}`
}
