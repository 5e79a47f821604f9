import { parseDuration } from '../src/lib/duration.ts'
import { usageError } from './errors.ts'

/**
 * Reads a point in time: `-2h` is two hours ago, otherwise ISO 8601, a date alone being its first moment in UTC.
 * @throws {CliError} naming the flag it came from
 */
export function parseTime(text: string, flag: string, now: number = Date.now()): string {
  if (/^-\d/.test(text)) {
    try {
      return new Date(now - parseDuration(text.slice(1))).toISOString()
    } catch {
      throw usageError(`${flag}: "${text}" is no time`, `${flag} -2h, or ${flag} 2026-11-21T09:30:00Z`)
    }
  }
  const hasZone = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const time = hasZone ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw usageError(`${flag}: "${text}" is no time`, `${flag} -2h, or ${flag} 2026-11-21T09:30:00Z`)
  return new Date(time).toISOString()
}
