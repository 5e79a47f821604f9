import type { TimelineEntry } from '../wire/explain.ts'

/**
 * What one transaction writes has one time: what caused the rest goes first, and the webhook that tells of it last.
 */
const RANK: Readonly<Record<TimelineEntry['kind'], number>> = {
  merchant: 0,
  operator: 1,
  dispute: 2,
  refund: 3,
  payment: 4,
  consent: 5,
  webhook: 6,
  attempt: 7,
  due: 8,
}

/**
 * Entries in the order in which they happened, and what has not yet behind them all; those of one time and kind stay in
 * the order in which they are given.
 */
export function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((a, b) => isDue(a) - isDue(b) || compare(a.at, b.at) || RANK[a.kind] - RANK[b.kind])
}

function isDue({ kind }: TimelineEntry): number {
  return kind === 'due' ? 1 : 0
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** An entry; what is not said of it is null. */
export function entry(given: Pick<TimelineEntry, 'at' | 'kind' | 'text'> & Partial<TimelineEntry>): TimelineEntry {
  return { by: null, status: null, ref: null, ...given }
}

/** Part of a story: its entries, and what of it is left out. */
export type Told = { entries: TimelineEntry[]; leftOut: string[] }

export function joined(parts: readonly Told[]): Told {
  return { entries: parts.flatMap(({ entries }) => entries), leftOut: parts.flatMap(({ leftOut }) => leftOut) }
}

/** The newest `max` of rows that were read newest first with one more than that, the oldest first, and whether there are more. */
export function newest<Row>(rows: readonly Row[], max: number): { rows: Row[]; hasMore: boolean } {
  return { rows: rows.slice(0, max).toReversed(), hasMore: rows.length > max }
}
