import { seededBits48 } from '../lib/seeded-random.ts'
import { FULL_BASIS_POINTS } from '../lib/percentage.ts'

/**
 * The fault injection settings of one merchant at the mock bank (decision 186). Probabilities are in basis points
 * (hundredths of a percent).
 */
export type FaultSettings = {
  /** The bank's latency before each answer, in milliseconds. */
  latencyMs: number
  /** The probability that a callback is lost; null where the settings don't affect callbacks in this way. */
  dropCallback: number | null
  /** The probability that a callback arrives twice. */
  duplicate: number | null
  /** The probability that a call gets no answer. */
  unavailable: number | null
  /** The probability that a payout fails. */
  failPayout: number | null
  /** The probability that a payout is returned after it was paid. */
  returnPayout: number | null
  seed: number
}

/**
 * The events with a probability; each has a random sequence of its own, so that changing one probability does not
 * change which calls another one hits. The names are part of the seed.
 */
export type RandomEvent =
  | 'drop callback'
  | 'duplicate'
  | 'unavailable'
  | 'done all the same'
  | 'fail payout'
  | 'return payout'

/** The outcome of one call: answered, not received by the bank, or carried out with its answer lost. */
export type CallOutcome = 'answered' | 'not heard' | 'answer lost'

/** Half of the calls without an answer were carried out: the caller can't tell, and must repeat the call. */
const DONE_PROBABILITY = FULL_BASIS_POINTS / 2

/**
 * Whether the n-th random value of an event is below its probability. It depends on the seed and n alone, on every
 * process.
 */
export function isHit(seed: number, event: RandomEvent, n: bigint, probability: number | null): boolean {
  if (probability === null) return false
  // The remainder of 48 bits modulo 10,000 is uniform to far beyond the precision of basis points.
  return seededBits48(`mock bank fault\n${seed}\n${event}\n${n}`) % FULL_BASIS_POINTS < probability
}

/** The outcome of the n-th call. */
export function outcomeOfCall({ seed, unavailable }: FaultSettings, n: bigint): CallOutcome {
  if (!isHit(seed, 'unavailable', n, unavailable)) return 'answered'
  return isHit(seed, 'done all the same', n, DONE_PROBABILITY) ? 'answer lost' : 'not heard'
}

/** What becomes of the n-th payout; a repeat of its call changes nothing. */
export function outcomeOfPayout(
  { seed, failPayout, returnPayout }: FaultSettings,
  n: bigint,
): 'paid' | 'failed' | 'returned' {
  if (isHit(seed, 'fail payout', n, failPayout)) return 'failed'
  return isHit(seed, 'return payout', n, returnPayout) ? 'returned' : 'paid'
}

/** The number of times the n-th callback is sent. */
export function timesSent({ seed, dropCallback, duplicate }: FaultSettings, n: bigint): 0 | 1 | 2 {
  if (isHit(seed, 'drop callback', n, dropCallback)) return 0
  return isHit(seed, 'duplicate', n, duplicate) ? 2 : 1
}

/** Whether the settings make the bank send callbacks even in scenarios without them. */
export function affectsCallbacks({ dropCallback, duplicate }: FaultSettings): boolean {
  return dropCallback !== null || duplicate !== null
}
