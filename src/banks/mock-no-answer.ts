import { setTimeout as delay } from 'node:timers/promises'
import { BankUnavailableError } from './connector.ts'
import type { SimulatedFailure } from './scenarios.ts'

/**
 * Leaves the first calls unanswered, as many as the scenario demands; the next one succeeds, so that every payment
 * ends.
 * @throws {BankUnavailableError} for an unanswered call
 */
export async function simulateNoAnswer(
  bank: { silenceMs: number },
  failure: SimulatedFailure,
  count: () => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  if (failure.unanswered === 0 || (await count()) > failure.unanswered) return
  if (failure.silent) await waitSilently(bank.silenceMs, signal)
  throw new BankUnavailableError(failure.silent ? 'the mock bank does not answer' : "the mock bank can't be reached")
}

/** Waits like a silent bank: until the caller aborts, or until the time is over. */
async function waitSilently(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** @throws {BankUnavailableError} when the caller has already aborted */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new BankUnavailableError('the call to the mock bank was aborted before it started', { cause: signal.reason })
}
