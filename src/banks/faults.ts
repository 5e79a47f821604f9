import { seededBits48 } from '../lib/seeded-random.ts'
import { FULL_BASIS_POINTS } from '../lib/percentage.ts'

/** What the dial of one merchant says (decision 186). Shares are hundredths of a percent. */
export type FaultSettings = {
  /** How long the bank takes before each answer, in milliseconds. */
  latencyMs: number
  /** The share of callbacks that get lost; null where the dial says nothing about callbacks getting lost. */
  dropCallback: number | null
  /** The share of callbacks that come twice. */
  duplicate: number | null
  /** The share of calls that get no answer. */
  unavailable: number | null
  seed: number
}

/** What is drawn for; each has a sequence of its own, so that one share does not move what another one hits. */
export type RandomEvent = 'drop callback' | 'duplicate' | 'unavailable' | 'done all the same'

/** What becomes of one call: answered, not heard, or done and its answer lost. */
export type CallOutcome = 'answered' | 'not heard' | 'answer lost'

/** Half of the calls without an answer were carried out: the caller can't tell, and must ask again. */
const DONE_PROBABILITY = FULL_BASIS_POINTS / 2

/** Whether the n-th draw of a kind hits a share: it follows from the seed and n alone, on every service. */
export function isHit(seed: number, event: RandomEvent, n: bigint, probability: number | null): boolean {
  if (probability === null) return false
  // The remainder of 48 bits is even over ten thousand to far beyond what a share can tell.
  return seededBits48(`mock bank fault\n${seed}\n${event}\n${n}`) % FULL_BASIS_POINTS < probability
}

/** What becomes of the n-th call. */
export function outcomeOfCall({ seed, unavailable }: FaultSettings, n: bigint): CallOutcome {
  if (!isHit(seed, 'unavailable', n, unavailable)) return 'answered'
  return isHit(seed, 'done all the same', n, DONE_PROBABILITY) ? 'answer lost' : 'not heard'
}

/** How often the n-th callback is sent. */
export function timesSent({ seed, dropCallback, duplicate }: FaultSettings, n: bigint): 0 | 1 | 2 {
  if (isHit(seed, 'drop callback', n, dropCallback)) return 0
  return isHit(seed, 'duplicate', n, duplicate) ? 2 : 1
}

/** Whether the bank reports decisions by itself although the scenario does not ask for it. */
export function affectsCallbacks({ dropCallback, duplicate }: FaultSettings): boolean {
  return dropCallback !== null || duplicate !== null
}
