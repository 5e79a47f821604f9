import { usageError } from '../../base/errors.ts'

/** Says whether an event of this type is meant. */
export type EventFilter = (eventType: string) => boolean

/** An exact name, all of a noun (`payment.*`), or everything (`*`). */
const PATTERN = /^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?)$/

/**
 * Reads names of events, separated by commas: `payment.settled,refund.*`.
 * @throws {CliError} naming the flag they came from
 */
export function eventFilter(text: string, flag: string): EventFilter {
  const patterns = text.split(',').map((pattern) => pattern.trim())
  for (const pattern of patterns) {
    if (!PATTERN.test(pattern))
      throw usageError(
        `${flag}: "${pattern}" is no name of an event`,
        `${flag} payment.settled, or ${flag} "payment.*"`,
      )
  }
  return (eventType) => patterns.some((pattern) => matches(pattern, eventType))
}

function matches(pattern: string, eventType: string): boolean {
  return pattern.endsWith('*') ? eventType.startsWith(pattern.slice(0, -1)) : eventType === pattern
}
