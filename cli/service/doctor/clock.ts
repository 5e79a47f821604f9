import { finding, ok } from './check.ts'
import type { Check } from './check.ts'

/** Tokens and signatures count for minutes; more than this is no delay of an answer. */
const SKEW_MAX_MS = 5_000

/** How far another clock is ahead of this machine's. */
export function clockCheck(check: string, aheadMs: number): Check {
  if (Math.abs(aheadMs) <= SKEW_MAX_MS) return ok(check, 'within 5 seconds of this machine')
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  return finding(
    check,
    `it is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`,
    'timedatectl set-ntp true',
  )
}
