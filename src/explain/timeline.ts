import { TimelineEntry } from '../wire/explain.ts'
import { phraseOf } from './phrases.ts'
import type { TimelineLimits, TimelineRow } from './timeline-sql.ts'
import { wordsFor } from './viewer.ts'
import type { Viewer } from './viewer.ts'

/**
 * The rows of one transaction have one time: the cause of the others comes first, and the webhooks that announce it last.
 * What is due comes after everything that has happened.
 */
const ORDER = TimelineEntry.shape.kind.options

/**
 * The entries of rows within the limits in the order in which they happened, and what is left out of them.
 * @param movesOf the entries of the moves of a payment, which need the payment as well
 */
export function timelineOf(
  rows: readonly TimelineRow[],
  { limits, viewer, movesOf }: { limits: TimelineLimits; viewer: Viewer; movesOf(row: TimelineRow): TimelineEntry[] },
): { timeline: TimelineEntry[]; leftOut: string[] } {
  const limitOf = ({ kind }: TimelineRow): number => limits[kind] ?? Infinity
  const beyond = rows.filter((row) => row.nth > limitOf(row)).toSorted(byKind)
  const notes = beyond.map((row) => `${rowsText(row)} last ${limitOf(row)}`)
  const entries = rows
    .filter((row) => row.nth <= limitOf(row))
    .flatMap((row) => (row.kind === 'payment' ? movesOf(row) : [entryOf(row, viewer)]))
  return { timeline: entries, leftOut: [...new Set(notes)] }
}

/** Entries in the order of their times; those of one time and kind stay as they are. */
export function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const isDue = ({ kind }: TimelineEntry): number => (kind === 'due' ? 1 : 0)
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
  return entries.toSorted((a, b) => isDue(a) - isDue(b) || compare(a.at, b.at) || byKind(a, b))
}

function byKind(a: Pick<TimelineEntry, 'kind'>, b: Pick<TimelineEntry, 'kind'>): number {
  return ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)
}

/** What a note on rows beyond a limit calls them. */
function rowsText({ kind, ref, facts }: TimelineRow): string {
  if (kind === 'attempt') return `attempts of ${facts['event_type']} ${ref} before its`
  if (kind === 'dispute' || kind === 'payout') return `${kind} events before the`
  return `${kind === 'operator' || kind === 'merchant' ? 'action' : kind}s before the`
}

function entryOf({ kind, what, at, by, to: status, ref, words, facts }: TimelineRow, viewer: Viewer): TimelineEntry {
  const text = phraseOf(kind, what, facts)
  return { at, kind, by, text: words === null ? text : `${text}: ${wordsFor(viewer, words)}`, status, ref }
}
