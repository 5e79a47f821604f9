import { invalidFields } from '../lib/errors.ts'
import type { DomainError } from '../lib/errors.ts'

/** What a query says of when something was booked: days, or times whose zone does not count (decision 7). */
export type BookingFilter = { fromBookingDateTime?: string | undefined; toBookingDateTime?: string | undefined }

const PARTS = /^(?<day>\d{4}-\d{2}-\d{2})(?:T(?<minute>\d{2}:\d{2})(?::(?<second>\d{2})(?:\.(?<fraction>\d{1,6}))?)?)?/

/**
 * The moments between which a booking lies, both of them included, to the microsecond that the database keeps. A day as
 * the end is the whole day, and a time is the whole millisecond, for that is how exactly answers tell the time.
 * @throws {DomainError} VALIDATION_FAILED at both fields where the period ends before it begins
 */
export function bookingPeriod({ fromBookingDateTime: first, toBookingDateTime: last }: BookingFilter): {
  from: string
  to: string
} {
  const from =
    first === undefined
      ? '-infinity'
      : momentOf(first, { time: '00:00:00.000000', fraction: (text) => text.padEnd(6, '0') })
  const to =
    last === undefined
      ? 'infinity'
      : momentOf(last, { time: '23:59:59.999999', fraction: (text) => text.padEnd(3, '0').padEnd(6, '9') })
  // Texts of one form, in the order of their moments.
  if (first !== undefined && last !== undefined && from > to) throw endsBeforeItBegins()
  return { from, to }
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
function momentOf(text: string, of: { time: string; fraction: (text: string) => string }): string {
  const { day = '', minute, second = '00', fraction = '' } = PARTS.exec(text)?.groups ?? {}
  const time = minute === undefined ? of.time : `${minute}:${second}.${of.fraction(fraction)}`
  return `${day}T${time}Z`
}

function endsBeforeItBegins(): DomainError {
  return invalidFields([
    { path: 'fromBookingDateTime', code: 'INVALID_DATE', message: 'must not be after toBookingDateTime' },
    { path: 'toBookingDateTime', code: 'INVALID_DATE', message: 'must not be before fromBookingDateTime' },
  ])
}
