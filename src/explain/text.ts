import { formatNumeric, parseAmount } from '../lib/money.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** A time of the API in a sentence: to the second, in UTC. */
export function momentText(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** How long it is from one time to another: `2 days 3 hours`, `14 minutes`, `40 seconds`. */
export function spanText(from: string, to: string): string {
  return lengthText(Math.max(0, Date.parse(to) - Date.parse(from)))
}

/** A length of time in its two largest units, seconds only where there are no minutes: `11 hours`. */
export function lengthText(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size)
  if (first === -1) return 'less than a second'
  let rest = ms
  const parts = UNITS.slice(first, first + 2).map(([name, size], index) => {
    const count = name === 'second' && index > 0 ? 0 : Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [countText(count, name)]
  })
  return parts.flat().join(' ')
}

/** `1 attempt`, `2 attempts`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A point in time and how far it is: `2026-11-21 09:45:00Z, 14 minutes left`; a time in the past is due now. */
export function untilText(now: string, at: string): string {
  return at > now ? `${momentText(at)}, ${spanText(now, at)} left` : `${momentText(at)}, which is now`
}

/** Whether an amount, as numeric(19,4) text, is zero. */
export function isZero(numeric: string): boolean {
  return parseAmount(numeric) === 0n
}

/** `50.00 GBP`. */
export function moneyText(numeric: string, currency: string): string {
  return `${formatNumeric(numeric, currency)} ${currency}`
}
