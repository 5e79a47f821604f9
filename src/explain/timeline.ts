import { CONSENT_TRANSITIONS } from '../consents/states.ts'
import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import { outcomeText } from '../lib/outcome-text.ts'
import { PLATFORM_ROLES } from '../lib/permissions.ts'
import { attemptsMax } from '../webhooks/states.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import { actionText } from './actions.ts'
import { HELD_TEXTS } from './delivery.ts'
import { DISPUTE_PHRASES } from './dispute.ts'
import { PAYMENT_MOVES, paymentTable } from './payment.ts'
import type { ActionRow, DisputeEventRow, PaymentFacts, PaymentMoveRow, TimelineLimits, TimelineRow } from './record.ts'
import { wordsFor } from './steps.ts'
import type { Viewer } from './steps.ts'
import { countText, momentText, moneyText } from './text.ts'

/** The payment is the subject's own; null for another kind of subject, whose timeline has no moves of payments. */
type Context = { viewer: Viewer; payment: PaymentFacts | null }

/**
 * The rows of one transaction have one time: the cause of the others comes first, and the webhooks that announce it last.
 * What is due comes after everything that has happened.
 */
const ORDER = ['merchant', 'operator', 'dispute', 'refund', 'payment', 'consent', 'webhook', 'attempt', 'due'] as const

type Limited = keyof TimelineLimits

/** The notes of `left_out` on rows beyond their source's limit, in this order. */
const LEFT_OUT: readonly [source: Limited, note: (max: number, row: TimelineRow) => string][] = [
  ['refund', (max) => `refunds before the last ${max}`],
  ['dispute', (max) => `dispute events before the last ${max}`],
  ['webhook', (max) => `webhooks before the last ${max}`],
  [
    'attempt',
    (max, { ref, facts }) =>
      `attempts of ${'event_type' in facts ? facts.event_type : ''} ${ref} before its last ${max}`,
  ],
  ['action', (max) => `actions before the last ${max}`],
]

/** The entries of rows within the limits in the order in which they happened, and what is left out of them. */
export function timelineOf(
  rows: readonly TimelineRow[],
  limits: TimelineLimits,
  context: Context,
): { timeline: TimelineEntry[]; leftOut: string[] } {
  const maxima = new Map<string, number>(Object.entries(limits))
  const isBeyond = ({ source, nth }: TimelineRow): boolean => nth > (maxima.get(source) ?? Infinity)
  const timeline = rows.filter((row) => !isBeyond(row)).flatMap((row) => entriesOf(row, context))
  const beyond = rows.filter(isBeyond)
  const notes = LEFT_OUT.flatMap(([source, note]) =>
    beyond.filter((row) => row.source === source).map((row) => note(limits[source], row)),
  )
  const due = context.payment === null ? [] : dueOfPayment(context.payment)
  return { timeline: inOrder([...timeline, ...due]), leftOut: [...new Set(notes)] }
}

/** Entries of one time and kind stay in the order of their rows. */
function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const isDue = ({ kind }: TimelineEntry): number => (kind === 'due' ? 1 : 0)
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
  return entries.toSorted(
    (a, b) => isDue(a) - isDue(b) || compare(a.at, b.at) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  )
}

/** The entries of a row for this viewer: a payment's move may have another one about its consent. */
function entriesOf(row: TimelineRow, { viewer, payment }: Context): TimelineEntry[] {
  switch (row.source) {
    case 'payment':
      return payment === null ? [] : paymentEntries(row, payment)
    case 'dispute':
      return [disputeEntry(row, viewer)]
    case 'action':
      return [actionEntry(row, viewer)]
    case 'registration':
      return [entry(row, 'merchant', 'the merchant was registered')]
    case 'refund':
      return [entry(row, 'refund', refundPhrase(row))]
    case 'webhook': {
      const { event_type, event_id, is_test, held } = row.facts
      const text = `${is_test ? 'test ' : ''}webhook ${event_type} (${event_id})`
      return [entry(row, 'webhook', `${text}${held === null ? '' : `, which ${HELD_TEXTS[held]}`}`)]
    }
    case 'attempt': {
      const { attempt, http_status, duration_ms, is_replayed } = row.facts
      const answer = row.to === 'delivered' ? `delivered with HTTP ${http_status ?? '2xx'}` : outcomeText(row.to)
      const text = `${is_replayed ? 'replayed: ' : ''}attempt ${attempt} of ${attemptsMax}: ${answer}`
      return [entry(row, 'attempt', `${text}, after ${duration_ms} ms`)]
    }
    case 'refund due': {
      const { amount, currency, attempt_count: count } = row.facts
      const silent = count === 0 ? '' : ` (${countText(count, 'request')} without an answer so far)`
      return [entry(row, 'due', `the bank is asked to refund ${moneyText(amount, currency)}${silent}`)]
    }
    case 'evidence due':
      return [entry(row, 'due', "the deadline for the merchant's evidence")]
    case 'attempt due': {
      const { attempt, event_type } = row.facts
      return [entry(row, 'due', `attempt ${attempt} of ${attemptsMax} of ${event_type} is due`)]
    }
    default:
      return row satisfies never
  }
}

/** An entry about a row. Its actor is named only by callers that have checked that the viewer may see it. */
function entry(
  { at, to, ref }: Pick<TimelineRow, 'at' | 'to' | 'ref'>,
  kind: TimelineEntry['kind'],
  text: string,
  by: string | null = null,
) {
  return { at, kind, by, text, status: to, ref }
}

function dueOfPayment({ status, under_mandate: isUnderMandate, expires_at, settle_at }: PaymentFacts): TimelineEntry[] {
  const due = (at: string, text: string): TimelineEntry => ({
    at,
    kind: 'due',
    by: null,
    text,
    status: null,
    ref: null,
  })
  if (status === 'Authorised') return settle_at === null ? [] : [due(settle_at, 'the bank is asked to execute it')]
  if (isUnderMandate || (status !== 'Initiated' && status !== 'AwaitingAuthorisation')) return []
  return [due(expires_at, 'the consent expires; the payment fails if it is still waiting')]
}

function paymentEntries(row: PaymentMoveRow, payment: PaymentFacts): TimelineEntry[] {
  const rows = paymentTable(payment).filter(({ from, to }) => from === row.from && to === row.to)
  const move = rows.find(({ actor }) => actor === row.actor) ?? rows[0]
  const text = move === undefined ? 'moved' : PAYMENT_MOVES[move.on].phrase(payment, row)
  const job = row.facts.job === null ? '' : ` (job ${row.facts.job})`
  const consent = CONSENT_TRANSITIONS.find(({ on }) => on === move?.consent)
  const moved = entry(row, 'payment', `${text}${job}`, row.actor)
  if (consent === undefined) return [moved]
  // Once a mandate is authorised, the moment is the mandate's own end.
  const until = payment.consent_status === 'AWAITING_AUTHORISATION' ? ` until ${momentText(payment.expires_at)}` : ''
  const phrase = consent.from === null ? `the consent waits for the payer${until}` : `the consent is ${consent.to}`
  return [moved, entry({ ...row, to: consent.to }, 'consent', phrase, row.actor)]
}

function refundPhrase({ from, to, facts }: Extract<TimelineRow, { source: 'refund' }>): string {
  const money = moneyText(facts.amount, facts.currency)
  const code = facts.failure_code
  if (from === null)
    return `a refund of ${money} ${facts.is_ordered ? 'was ordered with the resolution of a dispute' : 'was requested'}`
  if (to === 'EXECUTED') return `the bank refunded ${money}`
  const reason = code !== null && isFailureCode(code) ? `${failureOf(code).reason} (${code})` : 'no reason is recorded'
  return `the bank refused to refund ${money}: ${reason}`
}

/** Only operators read an operator's name and note; of the others there is the role that acted, and none of their words. */
function disputeEntry(row: DisputeEventRow, viewer: Viewer): TimelineEntry {
  const { event, changed_by, operator_note: note } = row.facts
  const isOperator = viewer.side === 'operator'
  const phrase = isDisputeStep(event) ? DISPUTE_PHRASES[event](row) : event
  const reason = isOperator && note !== null ? `: ${wordsFor(viewer, note)}` : ''
  return entry(row, 'dispute', `${phrase}${reason}`, changed_by === 'PLATFORM' && !isOperator ? null : row.actor)
}

function isDisputeStep(event: string): event is keyof typeof DISPUTE_PHRASES {
  return Object.hasOwn(DISPUTE_PHRASES, event)
}

/** Merchants read neither the names nor the reasons of actions. */
function actionEntry(row: ActionRow, viewer: Viewer): TimelineEntry {
  const { role, reason } = row.facts
  const isOperators = PLATFORM_ROLES.some((each) => each === role)
  const isOperator = viewer.side === 'operator'
  const why = isOperator && reason !== null ? `: ${wordsFor(viewer, reason)}` : ''
  const text = `${isOperators ? 'an operator' : 'the merchant'} ${actionText(row)}${why}`
  return entry({ ...row, to: null }, isOperators ? 'operator' : 'merchant', text, isOperator ? row.actor : null)
}
