import { longDurationText } from '../lib/duration.ts'
import { parseAmount } from '../lib/money.ts'

const MINUTE_MS = 60_000

/** A time of the API in a sentence: to the second, in UTC. */
export function momentText(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** How long it is from one time to another: `2 days 3 hours`, `14 minutes`, `40 seconds`. */
export function spanText(from: string, to: string): string {
  return lengthText(Math.max(0, Date.parse(to) - Date.parse(from)))
}

/** A length of time, with seconds only where there are no minutes: `11 hours`. */
export function lengthText(ms: number): string {
  return longDurationText(ms < MINUTE_MS ? ms : ms - (ms % MINUTE_MS)) || 'less than a second'
}

/** `1 attempt`, `2 attempts`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A point in time and how far it is: `2026-11-21 09:45:00Z, 14 minutes left`; a time in the past is due now. */
export function untilText(now: string, at: string): string {
  return at > now ? `${momentText(at)}, ${spanText(now, at)} left` : `${momentText(at)}, which is now`
}

/**
 * What PENDING refunds wait for.
 * @param times.next when the bank's API is asked; null where it has none and an operator's file takes them to the bank
 */
export function openRefundsText(refunds: string, { now, next }: { now: string; next: string | null }): string {
  if (next === null) return `${refunds} goes to the bank in a file, and is executed when a bank statement has it`
  return `the bank has not answered ${refunds} yet, and is asked next ${next > now ? `at ${momentText(next)}` : 'now'}`
}

/** Whether an amount, as numeric(19,4) text, is zero. */
export function isZero(numeric: string): boolean {
  return parseAmount(numeric) === 0n
}
