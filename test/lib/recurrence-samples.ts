import fc from 'fast-check'
import type { OracleSchedule, Expected } from './recurrence-oracle.ts'

export const DAY_MS = 86_400_000

function utcDay(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day)
}

function lastSunday(year: number, month: number): number {
  const end = utcDay(year, month + 1, 0)
  return end - new Date(end).getUTCDay() * DAY_MS
}

const years = fc.integer({ min: 2024, max: 2040 })
const far = fc.constantFrom(2095, 2096, 2099, 2100, 2104, 9992, 9999)
const nearOrFar = fc.oneof({ weight: 4, arbitrary: years }, { weight: 1, arbitrary: far })
const months = fc.integer({ min: 1, max: 12 })

function about(days: fc.Arbitrary<number>, before: number, after: number): fc.Arbitrary<number> {
  return fc.tuple(days, fc.integer({ min: -before, max: after })).map(([day, shift]) => day + shift * DAY_MS)
}

const changes = fc.tuple(years, fc.constantFrom(3, 10)).map(([year, month]) => lastSunday(year, month))
const startDays = fc.oneof(
  about(changes, 9, 1),
  fc.tuple(nearOrFar, months, fc.integer({ min: 1, max: 31 })).map(([y, m, d]) => utcDay(y, m, d)),
  about(
    fc.tuple(nearOrFar, months).map(([y, m]) => utcDay(y, m, 28)),
    2,
    5,
  ),
  about(
    fc.constantFrom(2024, 2028, 2032, 2096, 2100, 2104).map((y) => utcDay(y, 2, 28)),
    3,
    2,
  ),
)
/** Milliseconds of the day in UTC: most of them where the clocks change, in winter's time or in summer's. */
const times = fc.oneof(
  fc.constantFrom(30, 59, 60, 90, 119).map((minutes) => minutes * 60_000),
  fc.constantFrom(0, 120, 150, 1_380, 1_410, 1_439).map((minutes) => minutes * 60_000),
  fc.integer({ min: 0, max: 3 * 3_600_000 }),
  fc.integer({ min: 0, max: DAY_MS - 1 }),
)

type Pattern = Pick<OracleSchedule, 'kind' | 'step' | 'day'> & { text: string }

const two = (count: number): string => `${count < 0 ? '-' : ''}${String(Math.abs(count)).padStart(2, '0')}`

const patterns = fc.oneof(
  fc.constantFrom<Pattern>(
    { kind: 'every-day', step: 1, day: 0, text: 'EvryDay' },
    { kind: 'every-working-day', step: 1, day: 0, text: 'EvryWorkgDay' },
  ),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.oneof(fc.constant(7), fc.integer({ min: 1, max: 7 })))
    .map(([step, day]): Pattern => ({ kind: 'weeks', step, day, text: `IntrvlWkDay:${two(step)}:${two(day)}` })),
  fc
    .tuple(
      fc.constantFrom(1, 1, 2, 3, 4, 5, 6, 12, 24, 24),
      fc.oneof(fc.integer({ min: 1, max: 28 }), fc.integer({ min: 29, max: 31 }), fc.integer({ min: -5, max: -1 })),
    )
    .map(([step, day]): Pattern => ({ kind: 'months', step, day, text: `IntrvlMnthDay:${two(step)}:${two(day)}` })),
)

/** Enough days for a dozen runs, or four of those with years between them. */
function horizonOf({ kind, step }: Pattern): number {
  if (kind === 'weeks') return 7 * step * 12
  if (kind === 'months') return 31 * step * (step > 6 ? 4 : 12)
  return 45
}

/** The last instant of the years that are drawn. */
export const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** A schedule with its frequency as text, and a day to ask about, counted from the first. */
export type SampledSchedule = { text: string; probe: number; asked: OracleSchedule }

const laterTimes = (days: fc.Arbitrary<number>): fc.Arbitrary<{ days: number; time: number } | null> =>
  fc.option(fc.record({ days, time: times }), { freq: 2 })

const others = {
  next: laterTimes(fc.integer({ min: 0, max: 70 })),
  final: laterTimes(fc.integer({ min: -1, max: 700 })),
  probe: fc.integer({ min: -3, max: 400 }),
}

const anywhere = fc.record({ pattern: patterns, day: startDays, time: times, ...others })

const early = fc.integer({ min: 0, max: 2 * 60 }).map((minutes) => minutes * 60_000)

/** The rarest by itself: a run in the hour that is skipped or comes twice, of one day each in a year. */
const acrossChange = fc.record({
  ...others,
  pattern: fc.constantFrom<Pattern>(
    { kind: 'every-day', step: 1, day: 0, text: 'EvryDay' },
    { kind: 'weeks', step: 1, day: 7, text: 'IntrvlWkDay:01:07' },
  ),
  day: about(changes, 20, 0),
  time: early,
})

/** Such a run of a schedule that began months before, under the other of London's two times. */
const fromTheOtherTime = fc
  .record({ ...others, change: changes, time: early, step: fc.constantFrom(3, 5, 6), steps: fc.constantFrom(1, 3) })
  .map(({ change, step, steps, ...rest }) => {
    const sunday = new Date(change)
    const day = sunday.getUTCDate()
    const text = `IntrvlMnthDay:${two(step)}:${two(day)}`
    const start = utcDay(sunday.getUTCFullYear(), sunday.getUTCMonth() + 1 - step * steps, 20)
    return { ...rest, next: null, pattern: { kind: 'months' as const, step, day, text }, day: start }
  })

/** Schedules in which the calendar's rare things happen often. */
export const drawn: fc.Arbitrary<SampledSchedule> = fc
  .oneof(
    { weight: 8, arbitrary: anywhere },
    { weight: 2, arbitrary: acrossChange },
    { weight: 1, arbitrary: fromTheOtherTime },
  )
  .map(({ pattern, day, time, next, final, probe }) => {
    const at = (days: number, clock: number): Date => new Date(Math.min(day + days * DAY_MS + clock, LATEST))
    const { text, ...rest } = pattern
    const asked = {
      ...rest,
      first: at(0, time),
      next: next && at(next.days, next.time),
      final: final && at(final.days, final.time),
      horizonDays: horizonOf(pattern) + (next?.days ?? 0),
    }
    return { text, probe, asked }
  })

/** What the generators are there for, and how often it happened. */
export function countRareThings(
  seen: Map<string, number>,
  { asked }: SampledSchedule,
  runs: readonly Expected[],
): void {
  const { kind, step, day, first, next, final } = asked
  const things: Record<string, boolean> = {
    'a run at a time that is skipped': runs.some(({ skipped }) => skipped),
    'a run at a time that comes twice': runs.some(({ twice }) => twice),
    'a run on 29 February': runs.some((run) => run.day.endsWith('-02-29')),
    "a day that a month doesn't have": kind === 'months' && runs.some((run) => Number(run.day.slice(8)) < day),
    "a day from the month's end": kind === 'months' && day < 0,
    'every two years': kind === 'months' && step === 24 && runs.length > 2,
    'a first that moves': kind === 'every-working-day' && runs[0]?.at !== first.getTime(),
    'a next': next !== null,
    'a final that ends it': final !== null && runs.length > 0 && runs.length < 5,
    'no run at all': runs.length === 0,
    'a century or the end of days': first.getUTCFullYear() > 2090,
  }
  for (const [thing, happened] of Object.entries(things)) seen.set(thing, (seen.get(thing) ?? 0) + (happened ? 1 : 0))
}
