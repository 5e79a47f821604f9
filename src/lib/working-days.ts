import { BANK_HOLIDAYS } from './bank-holidays.ts'
import { parseDay, type Day } from './london-time.ts'

/** Days such as `2027-12-27` on which banks are closed; weekends need not be among them. */
export type Holidays = ReadonlySet<string>

/** More days than any year's proclamations: what is longer was not written by hand. */
const EXTRA_DAYS_MAX = 500

/**
 * The bank holidays of England and Wales to the end of `LAST_HOLIDAY_YEAR`, and after it only those that `extra` names.
 * @param extra days to add, and with a minus before them days to take away, with commas between them:
 *   `2027-05-07,-2027-05-03`. To add one that is there, or to take away one that isn't, changes nothing, so that the
 *   text can stay when a later version knows of the change itself.
 * @throws {RangeError} when `extra` has something else, or one day twice
 */
export function bankHolidays(extra = ''): Holidays {
  const days = new Set(Object.keys(BANK_HOLIDAYS))
  for (const { day, kept } of changesIn(extra)) {
    if (kept) days.add(day)
    else days.delete(day)
  }
  return days
}

function changesIn(extra: string): { day: string; kept: boolean }[] {
  if (extra.trim() === '') return []
  const entries = extra.split(',', EXTRA_DAYS_MAX + 1).map((entry) => entry.trim())
  if (entries.length > EXTRA_DAYS_MAX) throw new RangeError(`holidays are at most ${EXTRA_DAYS_MAX} days`)
  const seen = new Set<string>()
  return entries.map((entry) => {
    const kept = !entry.startsWith('-')
    const day = parseDay(kept ? entry : entry.slice(1)).toISODate()
    if (seen.has(day)) throw new RangeError(`${day} is named twice among the holidays; leave one`)
    seen.add(day)
    return { day, kept }
  })
}

/** Whether banks work on a day: Monday to Friday, and no holiday. */
export function isWorkingDay(day: Day, holidays: Holidays): boolean {
  return day.weekday <= 5 && !holidays.has(day.toISODate())
}

/** The day itself where it is a working day, else the next that is one. */
export function workingDayFrom(day: Day, holidays: Holidays): Day {
  let candidate = day
  // Ends: the holidays are a finite list, and beyond it every Monday is a working day.
  while (!isWorkingDay(candidate, holidays)) candidate = candidate.plus({ days: 1 })
  return candidate
}
