import { seededBits48 } from '../lib/seeded-random.ts'
import { WHOLE } from '../lib/share.ts'

/** What the dial of one merchant says (decision 60). Shares are hundredths of a percent. */
export type Faults = {
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
export type Draw = 'drop callback' | 'duplicate' | 'unavailable' | 'done all the same'

/** What becomes of one call: answered, not heard, or done and its answer lost. */
export type CallFate = 'answered' | 'not heard' | 'answer lost'

/** Half of the calls without an answer were carried out: the caller can't tell, and must ask again. */
const DONE_SHARE = WHOLE / 2

/** Whether the n-th draw of a kind hits a share: it follows from the seed and n alone, on every service. */
export function hits(seed: number, draw: Draw, n: bigint, share: number | null): boolean {
  if (share === null) return false
  // The remainder of 48 bits is even over ten thousand to far beyond what a share can tell.
  return seededBits48(`mock bank fault\n${seed}\n${draw}\n${n}`) % WHOLE < share
}

/** What becomes of the n-th call. */
export function fateOfCall({ seed, unavailable }: Faults, n: bigint): CallFate {
  if (!hits(seed, 'unavailable', n, unavailable)) return 'answered'
  return hits(seed, 'done all the same', n, DONE_SHARE) ? 'answer lost' : 'not heard'
}

/** How often the n-th callback is sent. */
export function timesSent({ seed, dropCallback, duplicate }: Faults, n: bigint): 0 | 1 | 2 {
  if (hits(seed, 'drop callback', n, dropCallback)) return 0
  return hits(seed, 'duplicate', n, duplicate) ? 2 : 1
}

/** Whether the bank reports decisions by itself although the scenario does not ask for it. */
export function speaksOfCallbacks({ dropCallback, duplicate }: Faults): boolean {
  return dropCallback !== null || duplicate !== null
}
