import { BANK_HOLIDAYS } from './bank-holidays.ts'
import { parseDay, type Day } from './london-time.ts'

/** Days such as `2027-12-27` on which banks are closed; weekends need not be included. */
export type Holidays = ReadonlySet<string>

/** More days than any year's proclamations: a longer list was not written by hand. */
const EXTRA_DAYS_MAX = 500

/**
 * The bank holidays of England and Wales to the end of `LAST_HOLIDAY_YEAR`, and after it only those in `extra`.
 * @param extra days to add, and with a leading minus days to remove, separated by commas: `2027-05-07,-2027-05-03`.
 *   Adding a known day or removing an unknown one changes nothing, so that the setting can stay when a later version
 *   includes the change.
 * @throws {RangeError} when `extra` contains anything else, or one day twice
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
  const listed = new Set<string>()
  return entries.map((entry) => {
    const kept = !entry.startsWith('-')
    const day = parseDay(kept ? entry : entry.slice(1)).toISODate()
    if (listed.has(day)) throw new RangeError(`${day} is listed twice among the holidays; remove one`)
    listed.add(day)
    return { day, kept }
  })
}

/** Whether a day is a working day of banks: Monday to Friday, and not a holiday. */
export function isWorkingDay(day: Day, holidays: Holidays): boolean {
  return day.weekday <= 5 && !holidays.has(day.toISODate())
}

/** The day itself if it is a working day, otherwise the next working day. */
export function workingDayFrom(day: Day, holidays: Holidays): Day {
  let candidate = day
  // Terminates: the holidays are a finite list, and beyond it every Monday is a working day.
  while (!isWorkingDay(candidate, holidays)) candidate = candidate.plus({ days: 1 })
  return candidate
}
