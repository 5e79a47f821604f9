import { DomainError } from './errors.ts'
import type { CurrentValues } from './errors.ts'
import { decimalText, isAmountText, parseAmount } from './money.ts'

/**
 * The state that the caller of a change last saw, by member name: the precondition of optimistic concurrency control.
 */
export type ExpectedValues = Readonly<Record<string, string | boolean | null | readonly string[] | undefined>>

/** The members that differ from the expected values, each with its current value. */
function changedIn(
  expected: ExpectedValues,
  now: Readonly<Record<string, unknown>>,
): { name: string; value: CurrentValues[string]; text: string }[] {
  return Object.entries(expected).flatMap(([name, value]) =>
    value === undefined || isSame(value, now[name])
      ? []
      : [
          {
            name,
            value: valueOf(now[name]),
            text: `${name.replaceAll('_', ' ')} is ${textOf(now[name])}, no longer ${textOf(value)}`,
          },
        ],
  )
}

function valueOf(value: unknown): CurrentValues[string] {
  return typeof value === 'boolean' || value === null ? value : textOf(value)
}

/** Amounts have four decimals in the database; people see two of them when the others are zero. */
function textOf(value: unknown): string {
  const text = String(value)
  return NUMERIC.test(text) ? decimalText(parseAmount(text), { scale: 4, minDecimals: 2 }) : text
}

/** A numeric(19,4) as the database returns it. */
const NUMERIC = /^\d{1,13}\.\d{4}$/

/** Amounts are equal regardless of trailing zeros, lists regardless of their order. */
function isSame(expected: NonNullable<ExpectedValues[string]> | null, now: unknown): boolean {
  if (expected === now) return true
  if (Array.isArray(expected) && Array.isArray(now)) return String(expected.toSorted()) === String(now.toSorted())
  if (typeof expected !== 'string' || typeof now !== 'string') return false
  return isAmountText(expected) && isAmountText(now) && parseAmount(expected) === parseAmount(now)
}

/** Whether every expected value is still current; true when nothing is expected. */
export function matchesExpectedValues(
  expected: ExpectedValues | undefined,
  now: Readonly<Record<string, unknown>>,
): boolean {
  return expected === undefined || changedIn(expected, now).length === 0
}

/**
 * Rejects a change that was decided on an outdated state: the caller has to review the current state and decide again.
 * @param now the current record, locked until the transaction ends
 * @throws {DomainError} CHANGED_MEANWHILE
 */
export function checkExpectedValues(
  expected: ExpectedValues | undefined,
  now: Readonly<Record<string, unknown>>,
): void {
  const changed = expected === undefined ? [] : changedIn(expected, now)
  if (changed.length === 0) return
  throw new DomainError(
    'CHANGED_MEANWHILE',
    `it has changed in the meantime, so nothing was done: ${changed.map(({ text }) => text).join('; ')}`,
    {
      current: Object.fromEntries(changed.map(({ name, value }) => [name, value])),
      next: 'review the current state, then try again',
    },
  )
}
