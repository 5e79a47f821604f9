import { DateTime } from 'luxon'
import type { Frequency } from './frequency.ts'
import { atLondonTime, londonDayOf, parseDay, type Day } from './london-time.ts'
import { workingDayFrom, type Holidays } from './working-days.ts'

/**
 * A standing order's calendar. Days are days in London, and all runs have the London time of `first`.
 *
 * - The first run is on the day of `first`, whether that fits the frequency or not.
 * - Where `next` is given, the second run is on its day; its time of day means nothing. One that is not on a later day
 *   than the first run changes nothing.
 * - All others fit the frequency. It counts from its anchor, the first fitting day on or after `next`, else `first`:
 *   every two weeks is every two weeks from there.
 * - The days 29 to 31 are a shorter month's last day, and each run is reckoned from the anchor: 31 January,
 *   28 February, 31 March.
 * - Every working day is Monday to Friday without `holidays`, and a `first` or `next` on another day moves to the
 *   next working day. No other frequency moves for weekends and holidays: Faster Payments run every day.
 * - `final` is the last day on which there can be a run, whatever its time.
 */
export type Schedule = { frequency: Frequency; first: Date; next: Date | null; final: Date | null; holidays: Holidays }

/** One run: the London day it belongs to (`2026-11-30`) and the instant it is due. */
export type Run = { day: string; at: Date }

/** Days have four digits for their year, and so no schedule goes further. */
const YEAR_MAX = 9999

/**
 * The first run: at the very instant of `first`, but for one that moves to a working day. Null where `final` is before it.
 * @throws {RangeError} when a date of the schedule is an invalid one
 */
export function firstRun(schedule: Schedule): Run | null {
  return runOn(schedule, startDay(schedule, schedule.first))
}

/**
 * The earliest run on a later day than `day`, which need not be a run's own; null where the schedule has ended. Days and
 * instants increase strictly. What it costs does not depend on the runs before.
 * @throws {RangeError} when `day` is no day, or a date of the schedule an invalid one
 */
export function runAfter(schedule: Schedule, day: string): Run | null {
  const from = parseDay(day).plus({ days: 1 })
  const first = startDay(schedule, schedule.first)
  if (from <= first) return runOn(schedule, first)
  const second = schedule.next === null ? first : startDay(schedule, schedule.next)
  if (from <= second) return runOn(schedule, second)
  return runOn(schedule, fittingDay(schedule, { base: DateTime.max(first, second), from }))
}

/** The day of `first` or `next`, which moves for a frequency of working days alone. */
function startDay({ frequency, holidays }: Schedule, instant: Date): Day {
  const day = londonDayOf(instant)
  return frequency.kind === 'every-working-day' ? workingDayFrom(day, holidays) : day
}

function runOn({ first, final }: Schedule, day: Day): Run | null {
  if (day.year > YEAR_MAX || (final !== null && day > londonDayOf(final))) return null
  // The time of `first` may be the second of two equal ones, which the clock alone would not tell.
  const at = day.equals(londonDayOf(first)) ? new Date(first) : atLondonTime(day, first)
  return { day: day.toISODate(), at }
}

/** Where a pattern counts from, and the day on or after which its next one is wanted, which is later than `base`. */
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
