import { invalidFields } from '../lib/errors.ts'
import type { DomainError } from '../lib/errors.ts'

/** The booking period of a query: days, or times whose zone is ignored (decision 7). */
export type BookingFilter = { fromBookingDateTime?: string | undefined; toBookingDateTime?: string | undefined }

const PARTS = /^(?<day>\d{4}-\d{2}-\d{2})(?:T(?<minute>\d{2}:\d{2})(?::(?<second>\d{2})(?:\.(?<fraction>\d{1,6}))?)?)?/

/**
 * The inclusive bounds of a booking period, in microseconds like the database. An end date includes the whole day, and
 * an end time the whole millisecond, which is the precision of responses.
 * @throws {DomainError} VALIDATION_FAILED at both fields when the period ends before it begins
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
  // Texts of one format, which sort chronologically.
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
    { path: 'fromBookingDateTime', code: 'INVALID_DATE', message: 'must not be after the end of the period' },
    { path: 'toBookingDateTime', code: 'INVALID_DATE', message: 'must not be before its beginning' },
  ])
}
