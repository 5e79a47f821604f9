import { parseDay } from '../lib/london-time.ts'

/** Some days, both included, such as `2026-11-22`. */
export type Days = { from: string; to: string }

/** A statement that takes less than this can read twice as many days: it stays far from its time limit. */
const SHORT_MS = 100

/**
 * Days in parts for statements that read all movements of these: a quiet year takes few of them, and a busy day one. The
 * first part is one day; the next one is twice as long where the work on this one was short, and else half as long.
 */
export function* partsOfDays({ from, to }: Days): Generator<Days> {
  const end = parseDay(to)
  let first = parseDay(from)
  for (let count = 1; first <= end;) {
    const next = first.plus({ days: count })
    const startedAt = performance.now()
    yield { from: first.toISODate(), to: (next > end ? end : next.minus({ days: 1 })).toISODate() }
    count = performance.now() - startedAt < SHORT_MS ? count * 2 : Math.ceil(count / 2)
    first = next
  }
}

/** The day so many days later. */
export function dayAfter(day: string, days: number): string {
  return parseDay(day).plus({ days }).toISODate()
}
