import { setTimeout as sleep } from 'node:timers/promises'
import { BankUnavailableError } from './connector.ts'
import type { SimulatedFailure } from './scenarios.ts'

/**
 * Leaves as many calls unanswered as the scenario wants; the next one goes through, so that a payment always ends.
 * @throws {BankUnavailableError} while there is no answer
 */
export async function simulateNoAnswer(
  bank: { silenceMs: number },
  refusal: SimulatedFailure,
  count: () => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  if (refusal.unanswered === 0 || (await count()) > refusal.unanswered) return
  if (refusal.silent) await waitSilently(bank.silenceMs, signal)
  throw new BankUnavailableError(refusal.silent ? 'the mock bank does not answer' : "the mock bank can't be reached")
}

/** Waits as a caller of a silent bank does: until the caller gives up, or until the time is over. */
async function waitSilently(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** @throws {BankUnavailableError} where the caller has given up already */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new BankUnavailableError('the mock bank was given no time to answer', { cause: signal.reason })
}
