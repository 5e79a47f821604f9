import { DateTime } from 'luxon'

const LONDON = 'Europe/London'

/**
 * A calendar day without time and zone, held as midnight in UTC so that days can be counted and compared. Format it
 * with `toISODate()`.
 */
export type Day = DateTime<true>

/**
 * Parses a day such as `2026-11-30`.
 * @throws {RangeError} when the text is not a day of the years 0000 to 9999
 */
export function parseDay(text: string): Day {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? DateTime.fromISO(text, { zone: 'utc' }) : DateTime.invalid('not a day')
  if (!day.isValid) throw new RangeError(`"${text.slice(0, 20)}" is not a valid date (expected for example 2026-11-30)`)
  return day
}

/**
 * The calendar day in London at an instant.
 * @throws {RangeError} when the date is an invalid one
 */
export function londonDayOf(instant: Date): Day {
  return valid(inLondon(instant).setZone('utc', { keepLocalTime: true })).startOf('day')
}

/**
 * The instant on `day` with the same London wall-clock time as `clock`, to the millisecond. A time that the clocks skip
 * in March moves forward by that hour; of a time that occurs twice in October the first one counts.
 * @throws {RangeError} when `clock` is an invalid date
 */
export function atLondonTime(day: Day, clock: Date): Date {
  const { year, month, day: dayOfMonth } = day
  const due = valid(inLondon(clock)).set({ year, month, day: dayOfMonth })
  // Luxon does not specify which of two equal wall-clock times `set` chooses.
  const [earliest = due] = due.getPossibleOffsets()
  return earliest.toJSDate()
}

/** Formats a day for people: `Tuesday 1 December 2026`. */
export function dayText(day: Day): string {
  return day.toFormat(DAY_FORM, { locale: 'en-GB' })
}

/**
 * Formats an instant for people, in London's calendar and time: `Tuesday 1 December 2026, 18:05`.
 * @throws {RangeError} when the date is an invalid one
 */
export function londonTimeText(instant: Date): string {
  return valid(inLondon(instant)).toFormat(`${DAY_FORM}, HH:mm`, { locale: 'en-GB' })
}

const DAY_FORM = 'cccc d MMMM yyyy'

function inLondon(instant: Date): DateTime<true> | DateTime<false> {
  return DateTime.fromJSDate(instant, { zone: LONDON })
}

function valid(time: DateTime<true> | DateTime<false>): DateTime<true> {
  if (!time.isValid) throw new RangeError('the instant is an invalid date')
  return time
}
