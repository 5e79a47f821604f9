import { DateTime } from 'luxon'
import type { Frequency } from './frequency.ts'
import { atLondonTime, londonDayOf, parseDay, type Day } from './london-time.ts'
import { workingDayFrom, type Holidays } from './working-days.ts'

/**
 * A standing order's calendar. Days are days in London, and all runs have the London time of `first`.
 *
 * - The first run is on the day of `first`, whether or not it matches the frequency.
 * - With `next`, the second run is on its day; its time of day is ignored. A `next` that is not on a later day than the
 *   first run is ignored.
 * - All others match the frequency, counted from its anchor: the first matching day on or after `next`, or else
 *   `first`. Every two weeks means every two weeks from there.
 * - The days 29 to 31 are a shorter month's last day, and each run is computed from the anchor: 31 January, 28
 *   February, 31 March.
 * - Every working day is Monday to Friday without `holidays`, and a `first` or `next` on another day moves to the next
 *   working day. No other frequency moves for weekends and holidays: Faster Payments run every day.
 * - `final` is the last possible day of a run, at any time of day.
 */
export type Schedule = { frequency: Frequency; first: Date; next: Date | null; final: Date | null; holidays: Holidays }

/** One run: the London day it belongs to (`2026-11-30`) and the instant it is due. */
export type Run = { day: string; at: Date }

/** Days have four-digit years, so schedules end there. */
const YEAR_MAX = 9999

/**
 * The first run: at the exact instant of `first`, unless it moves to a working day. Null where `final` is earlier.
 * @throws {RangeError} when a date of the schedule is invalid
 */
export function firstRun(schedule: Schedule): Run | null {
  return runOn(schedule, startDay(schedule, schedule.first))
}

/**
 * The earliest run on a later day than `day`, which need not be the day of a run; null where the schedule has ended.
 * Days and instants increase strictly. The cost does not depend on the number of earlier runs.
 * @throws {RangeError} when `day` is not a date, or a date of the schedule is invalid
 */
export function runAfter(schedule: Schedule, day: string): Run | null {
  const from = parseDay(day).plus({ days: 1 })
  const first = startDay(schedule, schedule.first)
  if (from <= first) return runOn(schedule, first)
  const second = schedule.next === null ? first : startDay(schedule, schedule.next)
  if (from <= second) return runOn(schedule, second)
  return runOn(schedule, fittingDay(schedule, { base: DateTime.max(first, second), from }))
}

/** The day of `first` or `next`, which moves only for the frequency of every working day. */
function startDay({ frequency, holidays }: Schedule, instant: Date): Day {
  const day = londonDayOf(instant)
  return frequency.kind === 'every-working-day' ? workingDayFrom(day, holidays) : day
}

function runOn({ first, final }: Schedule, day: Day): Run | null {
  if (day.year > YEAR_MAX || (final !== null && day > londonDayOf(final))) return null
  // The time of `first` may be the second of two equal wall-clock times, which the wall clock alone can't express.
  const at = day.equals(londonDayOf(first)) ? new Date(first) : atLondonTime(day, first)
  return { day: day.toISODate(), at }
}

/** The day from which a pattern counts, and the earliest day of the wanted match, which is later than `base`. */
type Search = { base: Day; from: Day }

function fittingDay({ frequency, holidays }: Schedule, search: Search): Day {
  switch (frequency.kind) {
    case 'every-day':
      return search.from
    case 'every-working-day':
      return workingDayFrom(search.from, holidays)
    case 'weeks':
      return weeklyDay(frequency, search)
    case 'months':
      return monthlyDay(frequency, search)
    default:
      return frequency satisfies never
  }
}

function weeklyDay({ interval, weekday }: { interval: number; weekday: number }, { base, from }: Search): Day {
  const anchor = base.plus({ days: (weekday - base.weekday + 7) % 7 })
  // Never negative: an anchor after `from` is less than a week after it.
  const periods = Math.ceil(from.diff(anchor, 'weeks').weeks / interval)
  return anchor.plus({ weeks: periods * interval })
}

function monthlyDay({ interval, day }: { interval: number; day: number }, { base, from }: Search): Day {
  const month = base.startOf('month')
  const anchorMonth = dayIn(month, day) < base ? month.plus({ months: 1 }) : month
  const months = (from.year - anchorMonth.year) * 12 + from.month - anchorMonth.month
  const passed = Math.floor(months / interval) * interval
  const candidate = dayIn(anchorMonth.plus({ months: passed }), day)
  return candidate < from ? dayIn(anchorMonth.plus({ months: passed + interval }), day) : candidate
}

/** A month's day by its number, counted back from the month's end where that is negative. */
function dayIn(month: Day, day: number): Day {
  const last = month.daysInMonth
  return month.set({ day: day < 0 ? last + 1 + day : Math.min(day, last) })
}
