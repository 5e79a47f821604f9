import { longDurationText, parseDuration } from '../../src/lib/duration.ts'
import { usageError } from './errors.ts'

/** A timer of Node.js can't be set for longer; that is 24 days. */
export const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * Reads a point in time: `-2h`, or `2h`, is two hours ago, otherwise ISO 8601, a date alone being its first moment in UTC.
 * @throws {CliError} naming the flag it came from
 */
export function parseTime(text: string, flag: string, now: number = Date.now()): string {
  if (/^-?\d+[a-z]+$/.test(text)) {
    try {
      return new Date(now - parseDuration(text.replace(/^-/, ''))).toISOString()
    } catch {
      throw usageError(
        `${flag}: invalid time "${text}": use 2h, 2026-11-21 or an RFC 3339 time`,
        `${flag} -2h, or ${flag} 2026-11-21T09:30:00Z`,
      )
    }
  }
  const hasZone = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const time = hasZone && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw usageError(
      `${flag}: invalid time "${text}": use 2h, 2026-11-21 or an RFC 3339 time`,
      `${flag} -2h, or ${flag} 2026-11-21T09:30:00Z`,
    )
  return new Date(time).toISOString()
}

/** Date.parse takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** How far away a time is, to read beside it: "in 13 days 4 hours", "2 minutes ago", "now". */
export function distanceOf(timestamp: string, now: number = Date.now()): string {
  const ms = Date.parse(timestamp) - now
  const text = longDurationText(Math.abs(ms))
  if (text === '') return 'now'
  return ms < 0 ? `${text} ago` : `in ${text}`
}

/** A distance in its largest unit alone, for tables. */
export function roughly(distance: string): string {
  return distance.replace(/^(in )?(\d+ [a-z]+) \d+ [a-z]+/, '$1$2')
}

/** Work that ends in time. @throws what `late` makes where it does not */
export async function inTime<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  const { promise: end, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), timeoutMs)
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}
