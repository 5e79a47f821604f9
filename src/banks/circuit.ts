import type { Logger } from '../observe/log.ts'
import type { App } from '../app.ts'
import { BankUnavailableError } from './connector.ts'
import type { BankConnector, ExecutionOutcome } from './connector.ts'

/** Calls without an answer in a row, after which payers are not offered the bank. */
const FAILURES_MAX = 5
const REST_MS = 30_000
const REST_MS_MAX = 300_000
/**
 * A failure that comes later than this after the last one is the first that counts for the time. Without it payers of a
 * bank that few choose would read a day of last week. Twice the longest rest, so that rests do not begin a new row.
 */
const ROW_GAP_MS = 2 * REST_MS_MAX

/** Whether a bank answers, judged by the calls that are made anyway. */
export type Circuit = {
  /** False while the bank rests after failures; true again when the next payment may try it. */
  isAvailable(): boolean
  /**
   * While it rests: when the first of the calls in a row was not answered, no two of them more than ten minutes apart. In
   * milliseconds since 1970.
   */
  unavailableSince(): number | undefined
}

/**
 * Watches a bank. After failures in a row it rests: new payments are refused at once. After the rest one new payment tries
 * it, and the others wait for what comes of it. Payments that are under way are asked for regardless: a bank that
 * was sent an order is the only one that knows what became of it.
 */
export function withCircuit(
  bank: BankConnector,
  {
    metrics,
    log,
    now = Date.now,
  }: {
    metrics: Pick<App['metrics'], 'bankCalls' | 'bankSeconds' | 'bankAvailable' | 'bankPayments'>
    log: Logger
    now?: () => number
  },
): { connector: BankConnector; circuit: Circuit } {
  let failureCount = 0
  let restMs = REST_MS
  let restsUntil = 0
  let silentSince = 0
  let silentLast = 0
  let isProbing = false
  const isAvailable = (): boolean => now() >= restsUntil
  const unavailableSince = (): number | undefined => (isAvailable() ? undefined : silentSince)
  const publish = (): void => metrics.bankAvailable.set({ bank: bank.id }, failureCount < FAILURES_MAX ? 1 : 0)

  function noteAnswer(): void {
    if (failureCount >= FAILURES_MAX) log.info({ bank: bank.id }, 'the bank answers again')
    failureCount = 0
    restMs = REST_MS
    restsUntil = 0
    publish()
  }

  function noteSilence(): void {
    if (failureCount === 0 || now() - silentLast > ROW_GAP_MS) silentSince = now()
    silentLast = now()
    failureCount += 1
    if (failureCount < FAILURES_MAX || !isAvailable()) return
    restsUntil = now() + restMs
    log.warn({ bank: bank.id, seconds: restMs / 1_000 }, 'the bank does not answer: new payments are not offered it')
    restMs = Math.min(restMs * 2, REST_MS_MAX)
    publish()
  }

  async function watched<T>(call: string, work: () => Promise<T>): Promise<T> {
    const end = metrics.bankSeconds.startTimer({ bank: bank.id, call })
    try {
      const answer = await work()
      noteAnswer()
      metrics.bankCalls.inc({ bank: bank.id, call, outcome: 'answered' })
      return answer
    } catch (error) {
      const isSilence = error instanceof BankUnavailableError
      if (isSilence) noteSilence()
      metrics.bankCalls.inc({ bank: bank.id, call, outcome: isSilence ? 'unavailable' : 'failed' })
      throw error
    } finally {
      end()
    }
  }

  async function forNewPayment<T>(work: () => Promise<T>): Promise<T> {
    const isTrial = failureCount >= FAILURES_MAX
    if (!isAvailable() || (isTrial && isProbing))
      throw new BankUnavailableError(`${bank.id} does not answer at the moment`)
    isProbing = isTrial
    return watched('stage', work).finally(() => {
      isProbing = false
    })
  }

  async function execute(...args: Parameters<BankConnector['execute']>): Promise<ExecutionOutcome> {
    const answer = await watched('execute', () => bank.execute(...args))
    const code = answer.outcome === 'rejected' ? answer.failureCode : ''
    if (['executed', 'rejected'].includes(answer.outcome))
      metrics.bankPayments.inc({ bank: bank.id, outcome: answer.outcome, code })
    return answer
  }

  publish()
  return {
    connector: { ...watchConnector(bank, watched, forNewPayment), execute },
    circuit: { isAvailable, unavailableSince },
  }
}

type Watched = <T>(call: string, work: () => Promise<T>) => Promise<T>

function watchConnector(
  bank: BankConnector,
  watched: Watched,
  forNewPayment: <T>(work: () => Promise<T>) => Promise<T>,
): BankConnector {
  const { redirects } = bank
  const staging =
    bank.staging === 'remote'
      ? {
          staging: bank.staging,
          stage: (...args: Parameters<typeof bank.stage>) => forNewPayment(() => bank.stage(...args)),
        }
      : {}
  return {
    ...bank,
    ...staging,
    exchangeCode: (...args) => watched('exchange_code', () => bank.exchangeCode(...args)),
    readConsent: (...args) => watched('read_consent', () => bank.readConsent(...args)),
    authoriseUnderMandate: (...args) => watched('authorise_under_mandate', () => bank.authoriseUnderMandate(...args)),
    endMandate: (...args) => watched('end_mandate', () => bank.endMandate(...args)),
    ...(redirects === undefined
      ? {}
      : {
          redirects: {
            begin: (...args) => watched('redirect', () => redirects.begin(...args)),
            receiveReturn: (...args) => watched('return', () => redirects.receiveReturn(...args)),
          },
        }),
  }
}
