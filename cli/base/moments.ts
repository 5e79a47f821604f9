import { parseDuration } from '../../src/lib/duration.ts'
import { usageError } from './errors.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/
const DAYS_AHEAD = /^\+?(\d{1,4})d$/
const AHEAD = /^\+?(\d{1,9}(?:ms|s|m|h))$/

/** London's time of day of a payment whose day alone is said, and of the last moment at which there may be one. */
export const MORNING = '09:00'
export const EVENING = '23:59'

/** `now` is a little later, so that it is not over when the request arrives. */
const NOW_AHEAD_MS = 5_000

/**
 * Reads when a payment is due: `now`, a time from now such as `+10m`, a number of days from today such as `14d`, a day, a
 * time in London, or one with its offset. Luxon is loaded only for this.
 * @param time London's time of day where the text is only a day
 * @throws {CliError} naming the flag it came from
 */
export async function momentOf(text: string, flag: string, time: string, now: number = Date.now()): Promise<string> {
  const aheadMs = text === 'now' ? NOW_AHEAD_MS : aheadOf(text)
  if (aheadMs !== undefined) return new Date(now + aheadMs).toISOString()
  const { DateTime } = await import('luxon')
  const said = DAYS_AHEAD.test(text) ? await dayFrom(text, flag, now) : text
  const moment = ZONED.test(said)
    ? DateTime.fromISO(said)
    : DAY.test(said) || LOCAL.test(said)
      ? DateTime.fromISO(DAY.test(said) ? `${said}T${time}` : said, { zone: 'Europe/London' })
      : DateTime.invalid('no moment')
  if (moment.isValid) return moment.toJSDate().toISOString()
  throw usageError(
    `${flag}: invalid day or time "${text}": use 14d, 2026-12-01 or an RFC 3339 time`,
    `${flag} 2026-12-01, ${flag} 2026-12-01T08:30 (London), ${flag} 2026-12-01T08:30:00+00:00, ${flag} 14d or ${flag} now`,
  )
}

/**
 * The same of a first payment that is ordered: a day that is said alone must not be over for payments.
 * @throws {CliError} where it is today, and the time of day has passed
 */
export async function firstMoment(text: string, flag: string, now: number = Date.now()): Promise<string> {
  const moment = await momentOf(text, flag, MORNING, now)
  const isDay = DAY.test(text) || DAYS_AHEAD.test(text)
  if (!isDay || Date.parse(moment) >= now) return moment
  const today = await dayFrom('0d', flag, now)
  if (moment.slice(0, 10) !== today) return moment
  throw usageError(
    `${flag}: a day alone is ${MORNING} in London, which has passed today`,
    `${flag} now\nfrom tomorrow on: ${flag} 1d`,
  )
}

/**
 * Reads a day: itself, `now`, which is today in London, or how far it is from there: `7d`, `+36h`. Any other text is left
 * to the service.
 * @throws {CliError} naming the flag it came from
 */
export async function dayFrom(text: string, flag: string, now: number = Date.now()): Promise<string> {
  const days = DAYS_AHEAD.exec(text)?.[1]
  const aheadMs = text === 'now' ? 0 : aheadOf(text)
  if (days === undefined && aheadMs === undefined) return text
  const { DateTime } = await import('luxon')
  const day = DateTime.fromMillis(now, { zone: 'Europe/London' })
    .plus(days === undefined ? { milliseconds: aheadMs ?? 0 } : { days: Number(days) })
    .toISODate()
  if (day === null) throw usageError(`${flag}: invalid day "${text}": use YYYY-MM-DD`, `${flag} 2026-12-01`)
  return day
}

function aheadOf(text: string): number | undefined {
  const duration = AHEAD.exec(text)?.[1]
  return duration === undefined ? undefined : parseDuration(duration)
}
