import { setTimeout as delay } from 'node:timers/promises'
import type { CommonQueryMethods } from 'slonik'
import type { Logger } from '../observe/log.ts'
import { BankUnavailableError } from './connector.ts'
import type { BankCallback } from './connector.ts'
import { affectsCallbacks, outcomeOfCall, timesSent } from './faults.ts'
import type { FaultSettings } from './faults.ts'
import { countCallbacks, findFaultSettings } from './faults-sql.ts'
import type { FaultSettingsRecord } from './faults-sql.ts'
import { postCallback } from './mock-callback.ts'
import type { PostCallback } from './mock-callback.ts'
import { throwIfAborted } from './mock-no-answer.ts'

type Bank = { pool: CommonQueryMethods; publicUrl: string; secret: string; log: Logger; post: PostCallback }

/**
 * Answers a call according to the merchant's fault injection settings: late, not at all, or not at all although the
 * work was done.
 * @param counted the settings with this call counted; null without any
 * @throws {BankUnavailableError} when there is no answer, or when it would come after the caller's timeout
 */
export async function answerWithFaults<T>(
  counted: FaultSettingsRecord | null,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  throwIfAborted(signal)
  if (counted === null) return work()
  await addLatency(counted.latency_ms, signal)
  const outcome = outcomeOfCall(faultSettingsOf(counted), counted.calls)
  if (outcome === 'not heard') throw noAnswer()
  const answer = await work()
  if (outcome === 'answer lost') throw noAnswer()
  return answer
}

type Report = {
  callback: BankCallback
  /** How often the scenario sends it. */
  callbackCount: number
  /**
   * Undefined where fault injection can't apply: the bank does not know the payee, or the scenario never sends
   * callbacks.
   */
  merchantId: string | undefined
}

/**
 * Reports a decision as often as the scenario and the fault injection settings demand, all at once so that duplicates
 * arrive concurrently.
 */
export async function reportDecision(bank: Bank, report: Report): Promise<void> {
  const times = await timesToSend(bank, report)
  await Promise.all(Array.from({ length: times }, () => postCallback(bank, report.callback)))
}

async function timesToSend({ pool, log }: Bank, { callback, callbackCount, merchantId }: Report): Promise<number> {
  const settings = merchantId === undefined ? null : await findFaultSettings(pool, merchantId)
  if (merchantId === undefined || settings === null || !affectsCallbacks(faultSettingsOf(settings)))
    return callbackCount
  const count = Math.max(callbackCount, 1)
  const counted = await countCallbacks(pool, { merchantId, count })
  if (counted === null) return callbackCount
  const faults = faultSettingsOf(counted)
  const callbackNumbers = Array.from({ length: count }, (_, index) => counted.callbacks - BigInt(index))
  const times = callbackNumbers.reduce((sum, n) => sum + timesSent(faults, n), 0)
  if (times < count)
    log.info(
      { merchant_id: merchantId, outcome: callback.result.outcome },
      'fault injection: a callback of the mock bank is lost',
    )
  return times
}

async function addLatency(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
  throwIfAborted(signal)
}

function noAnswer(): BankUnavailableError {
  return new BankUnavailableError('fault injection: the mock bank gives no answer')
}

/** The settings in the form of the rules (faults.ts). */
export function faultSettingsOf(record: FaultSettingsRecord): FaultSettings {
  return {
    latencyMs: record.latency_ms,
    dropCallback: record.drop_callback,
    duplicate: record.duplicate,
    unavailable: record.unavailable,
    failPayout: record.fail_payout,
    returnPayout: record.return_payout,
    seed: record.seed,
  }
}
