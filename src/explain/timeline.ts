import { CONSENT_TRANSITIONS } from '../consents/states.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import { PAYMENT_PHRASES, dueOfPayment, paymentTable } from './payment.ts'
import { wordsFor } from './steps.ts'
import type { Viewer } from './steps.ts'
import type { PaymentFacts } from './subjects-sql.ts'
import { momentText } from './text.ts'
import type { PaymentMoveRow, TimelineRow } from './timeline-rows.ts'
import type { TimelineLimits } from './timeline-sql.ts'

/**
 * The rows of one transaction have one time: the cause of the others comes first, and the webhooks that announce it last.
 * What is due comes after everything that has happened.
 */
const ORDER = [
  'merchant',
  'operator',
  'dispute',
  'refund',
  'payment',
  'consent',
  'settlement',
  'payout',
  'webhook',
  'attempt',
  'due',
] as const

/** The sources that have a limit, in the order of their notes in `left_out`, and what such a note calls their rows. */
const LIMITED: readonly [source: keyof TimelineLimits, noun: (row: TimelineRow) => string][] = [
  ['refund', () => 'refunds before the'],
  ['dispute', () => 'dispute events before the'],
  ['payout', () => 'payout events before the'],
  ['webhook', () => 'webhooks before the'],
  ['attempt', ({ ref, facts }) => `attempts of ${'event_type' in facts ? facts.event_type : ''} ${ref} before its`],
  ['action', () => 'actions before the'],
]

/**
 * The entries of rows within the limits in the order in which they happened, and what is left out of them.
 * @param payment the subject itself; null for a subject of another kind, whose timeline has no moves of payments
 */
export function timelineOf(
  rows: readonly TimelineRow[],
  { limits, viewer, payment }: { limits: TimelineLimits; viewer: Viewer; payment: PaymentFacts | null },
): { timeline: TimelineEntry[]; leftOut: string[] } {
  const maxima = new Map<string, number>(Object.entries(limits))
  const isBeyond = ({ source, nth }: TimelineRow): boolean => nth > (maxima.get(source) ?? Infinity)
  const entries = rows.filter((row) => !isBeyond(row)).flatMap((row) => entriesOf(row, viewer, payment))
  const due = payment === null ? [] : dueOfPayment(payment)
  const beyond = rows.filter(isBeyond)
  const notes = LIMITED.flatMap(([source, noun]) =>
    beyond.filter((row) => row.source === source).map((row) => `${noun(row)} last ${limits[source]}`),
  )
  return { timeline: inOrder([...entries, ...due]), leftOut: [...new Set(notes)] }
}

/** Entries of one time and kind stay in the order of their rows. */
function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const isDue = ({ kind }: TimelineEntry): number => (kind === 'due' ? 1 : 0)
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
  return entries.toSorted(
    (a, b) => isDue(a) - isDue(b) || compare(a.at, b.at) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  )
}

function entriesOf(row: TimelineRow, viewer: Viewer, payment: PaymentFacts | null): TimelineEntry[] {
  if (row.source === 'payment') return payment === null ? [] : moveEntries(row, payment)
  const { at, kind, actor: by, text, words, to: status, ref } = row
  return [{ at, kind, by, text: words === null ? text : `${text}: ${wordsFor(viewer, words)}`, status, ref }]
}

/** A payment's move, and that of its consent with it. */
function moveEntries(row: PaymentMoveRow, payment: PaymentFacts): TimelineEntry[] {
  const { at, actor: by, ref, facts } = row
  const moves = paymentTable(payment).filter(({ from, to }) => from === row.from && to === row.to)
  const move = moves.find(({ actor }) => actor === by) ?? moves[0]
  const job = facts.job === null ? '' : ` (job ${facts.job})`
  const text = `${move === undefined ? 'moved' : PAYMENT_PHRASES[move.on](payment, row)}${job}`
  const moved: TimelineEntry = { at, kind: 'payment', by, text, status: row.to, ref }
  const consent = CONSENT_TRANSITIONS.find(({ on }) => on === move?.consent)
  if (consent === undefined) return [moved]
  // Once a mandate is authorised, the moment is the mandate's own end.
  const until = payment.consent_status === 'AWAITING_AUTHORISATION' ? ` until ${momentText(payment.expires_at)}` : ''
  const phrase = consent.from === null ? `the consent waits for the payer${until}` : `the consent is ${consent.to}`
  return [moved, { at, kind: 'consent', by, text: phrase, status: consent.to, ref }]
}
