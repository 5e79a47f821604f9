import { DateTime } from 'luxon'

/** The periods that a mandate can be capped by (contract §Payment consent; decision 49). */
export const PERIODS = ['DAY', 'WEEK', 'FORTNIGHT', 'MONTH', 'HALF_YEAR', 'YEAR'] as const
export type Period = (typeof PERIODS)[number]

/** Where periods begin: at those of the calendar, or on the day when the mandate was created. */
export type Alignment = 'CALENDAR' | 'CONSENT'

export function isPeriod(value: unknown): value is Period {
  return PERIODS.some((period) => period === value)
}

const LENGTHS = {
  DAY: { unit: 'days', count: 1 },
  WEEK: { unit: 'weeks', count: 1 },
  FORTNIGHT: { unit: 'weeks', count: 2 },
  MONTH: { unit: 'months', count: 1 },
  HALF_YEAR: { unit: 'months', count: 6 },
  YEAR: { unit: 'months', count: 12 },
} as const satisfies Record<Period, { unit: 'days' | 'weeks' | 'months'; count: number }>

const ZONE = 'Europe/London'

/** The calendar has no fortnights: ours are counted from the first Monday of 1970. */
const FIRST_MONDAY = '1970-01-05'
const FIRST_DAY = '1970-01-01'

/**
 * The period that contains an instant: whole days in London, from midnight to the midnight at which the cap starts again.
 * Weeks begin on Mondays. A month that begins on the 31st begins on the last day of shorter months.
 * @param since when the mandate was created, which counts for `CONSENT`; ISO 8601 like all times here
 */
export function periodAt(
  { period, alignment }: { period: Period; alignment: Alignment },
  { now, since }: { now: string; since: string },
): { start: string; end: string } {
  const { unit, count } = LENGTHS[period]
  const first = firstDay(unit, alignment === 'CONSENT' ? since : undefined)
  const today = DateTime.fromISO(now, { zone: ZONE }).startOf('day')
  const passed = Math.floor(today.diff(first, unit).as(unit) / count)
  const startOf = (index: number): DateTime => first.plus({ [unit]: index * count })
  return { start: iso(startOf(passed)), end: iso(startOf(passed + 1)) }
}

function firstDay(unit: 'days' | 'weeks' | 'months', since: string | undefined): DateTime {
  const from = since ?? (unit === 'weeks' ? FIRST_MONDAY : FIRST_DAY)
  return DateTime.fromISO(from, { zone: ZONE }).startOf('day')
}

function iso(time: DateTime): string {
  return time.toJSDate().toISOString()
}
