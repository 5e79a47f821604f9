import { DomainError } from './errors.ts'
import { isAmountText, parseAmount } from './money.ts'

/** What whoever asks for a change has seen of the thing, by the names of its members. */
export type ExpectedValues = Readonly<Record<string, string | boolean | null | undefined>>

/** The members that are not as they were seen, each with what it is now. */
function changedIn(expected: ExpectedValues, now: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(expected).flatMap(([name, seen]) =>
    seen === undefined || isSame(seen, now[name])
      ? []
      : [`${name.replaceAll('_', ' ')} is ${textOf(now[name])}, no longer ${textOf(seen)}`],
  )
}

/** Amounts have four decimals in the database, and two for people wherever the others say nothing. */
function textOf(value: unknown): string {
  return String(value).replace(/^(\d+\.\d\d)00$/, '$1')
}

/** Amounts are the same whatever zeros stand at their end. */
function isSame(seen: string | boolean | null, now: unknown): boolean {
  if (seen === now) return true
  if (typeof seen !== 'string' || typeof now !== 'string') return false
  return isAmountText(seen) && isAmountText(now) && parseAmount(seen) === parseAmount(now)
}

/** Whether all that was seen is still so; it is where nothing is said of it. */
export function matchesExpectedValues(
  expected: ExpectedValues | undefined,
  now: Readonly<Record<string, unknown>>,
): boolean {
  return expected === undefined || changedIn(expected, now).length === 0
}

/**
 * Refuses what was decided on a thing as it is no more: whoever asks for it has to look again, and to decide anew.
 * @param now the thing, held until the transaction's end
 * @throws {DomainError} CHANGED_MEANWHILE
 */
export function checkExpectedValues(
  expected: ExpectedValues | undefined,
  now: Readonly<Record<string, unknown>>,
): void {
  const changed = expected === undefined ? [] : changedIn(expected, now)
  if (changed.length === 0) return
  throw new DomainError('CHANGED_MEANWHILE', `it has changed meanwhile, so nothing was done: ${changed.join('; ')}`, {
    next: 'look at it again, and decide anew',
  })
}
