import type { Transition } from '../lib/machine.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'

/**
 * The events of a delivery. `delivered` is a 2xx response in time, `failed` any other end of an attempt, and `failed
 * for the last time` the same at the sixth attempt.
 */
export type DeliveryTrigger = 'insert' | 'delivered' | 'failed' | 'failed for the last time' | 'replay'

/** The delivery machine (contract §Webhook delivery status): a row is the whole rule. */
export const DELIVERY_TRANSITIONS: readonly Transition<DeliveryStatus, DeliveryTrigger>[] = [
  { from: null, on: 'insert', to: 'PENDING' },
  { from: 'PENDING', on: 'delivered', to: 'DELIVERED' },
  { from: 'PENDING', on: 'failed', to: 'FAILED' },
  { from: 'FAILED', on: 'delivered', to: 'DELIVERED' },
  { from: 'FAILED', on: 'failed', to: 'FAILED' },
  { from: 'FAILED', on: 'failed for the last time', to: 'DEAD' },
  { from: 'DEAD', on: 'replay', to: 'PENDING' },
]

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The delay of attempts 1, 2, .. 6 after the previous failure, in milliseconds (contract §Delivery rules 4). */
export const attemptDelaysMs = [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS] as const

/** The last attempt (contract §Delivery rules 5). */
export const attemptsMax = attemptDelaysMs.length

/** Each delay is up to a fifth shorter or longer, so that deliveries that failed together are not retried together. */
const JITTER = 0.2

/**
 * Milliseconds from the failure of an attempt until the next one, with its jitter; null after the last attempt.
 * @param attemptJustFailed 1 to 6
 * @param random in [0, 1)
 * @param timeScale divides the delay; 1 is the contract's schedule (config `SVC_WEBHOOK_TIME_SCALE`)
 */
export function nextDelayMs(attemptJustFailed: number, random: number, timeScale = 1): number | null {
  const delay = attemptDelaysMs[attemptJustFailed]
  if (delay === undefined) return null
  return Math.round((delay * (1 - JITTER + 2 * JITTER * random)) / timeScale)
}
