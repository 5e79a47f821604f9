import { formatNumeric, parseAmount } from '../lib/money.ts'

const SECOND_MS = 1_000
const UNITS = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: SECOND_MS },
] as const

/** A time of the API in a sentence: to the second, in UTC. */
export function momentText(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** How long it is from one time to another: `2 days 3 hours`, `14 minutes`, `40 seconds`. */
export function spanText(from: string, to: string): string {
  return lengthText(Math.max(0, Date.parse(to) - Date.parse(from)))
}

/** A length of time: `11 hours`. */
export function lengthText(ms: number): string {
  const first = UNITS.findIndex((unit) => ms >= unit.ms)
  if (first === -1) return 'less than a second'
  const [big, small] = [UNITS[first], UNITS[first + 1]]
  if (big === undefined) return 'less than a second'
  const count = Math.floor(ms / big.ms)
  const rest = small === undefined || small.ms === SECOND_MS ? 0 : Math.floor((ms % big.ms) / small.ms)
  return [countText(count, big.name), ...(rest === 0 || small === undefined ? [] : [countText(rest, small.name)])].join(
    ' ',
  )
}

/** `1 attempt`, `2 attempts`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A point in time and how far it is: `2026-11-21 09:45:00Z, 14 minutes left`; what is past is due now. */
export function untilText(now: string, at: string): string {
  return at > now ? `${momentText(at)}, ${spanText(now, at)} left` : `${momentText(at)}, which is now`
}

/** Whether an amount, as numeric(19,4) text, is none. */
export function isNothing(numeric: string): boolean {
  return parseAmount(numeric) === 0n
}

/** `50.00 GBP`. */
export function moneyText(numeric: string, currency: string): string {
  return `${formatNumeric(numeric, currency)} ${currency}`
}
