import type { Logger } from '../observe/log.ts'
import type { App } from '../app.ts'
import { BankUnavailableError } from './connector.ts'
import type { BankConnector, ExecutionOutcome } from './connector.ts'
import { SILENCE_GAP_MS, makeOutages } from './outages/outages.ts'
import type { Outages } from './outages/outages.ts'

/** Calls without an answer in a row, after which payers are not offered the bank. */
const FAILURES_MAX = 5
const REST_MS = 30_000
const REST_MS_MAX = 300_000

/** Whether a bank answers, judged by the calls that are made anyway, of all processes. */
export type Circuit = {
  /** False while the bank rests after failures; true again when the next payment may try it. */
  isAvailable(): boolean
  /**
   * While it rests: when the first of the calls in a row was not answered, no two of them more than ten minutes apart. By
   * the monotonic clock of the process (decision 446).
   */
  unavailableSince(): number | undefined
}

/**
 * Watches a bank. After failures in a row it rests: new payments are refused at once. After the rest one new payment tries
 * it, and the others wait for what comes of it. Payments that are under way are asked for regardless: a bank that
 * was sent an order is the only one that knows what became of it.
 *
 * A process refuses payments by what it has seen itself, as it alone may not reach the bank; what payers and operators are
 * shown is what all processes know. Where others know of a silence, its first failure is enough for a rest.
 */
export function withCircuit(
  bank: BankConnector,
  {
    metrics,
    log,
    now = () => performance.now(),
    outages = makeOutages(now).outages,
  }: {
    metrics: Pick<App['metrics'], 'bankCalls' | 'bankSeconds' | 'bankAvailable' | 'bankPayments'>
    log: Logger
    now?: () => number
    outages?: Outages
  },
): { connector: BankConnector; circuit: Circuit } {
  const silences = makeSilences(bank.id, { outages, log, now })
  let isProbing = false
  const publish = (): void => metrics.bankAvailable.set({ bank: bank.id }, outages.of(bank.id) === undefined ? 1 : 0)
  const unavailableSince = (): number | undefined => {
    const outage = outages.of(bank.id)
    return outage === undefined || now() >= outage.restsUntil ? undefined : outage.since
  }

  async function watched<T>(call: string, work: () => Promise<T>): Promise<T> {
    const end = metrics.bankSeconds.startTimer({ bank: bank.id, call })
    try {
      const answer = await work()
      silences.noteAnswer()
      metrics.bankCalls.inc({ bank: bank.id, call, outcome: 'answered' })
      return answer
    } catch (error) {
      const outcome = outcomeOf(error)
      if (outcome === 'unavailable') silences.noteSilence()
      if (outcome === 'refused') silences.noteAnswer()
      metrics.bankCalls.inc({ bank: bank.id, call, outcome })
      throw error
    } finally {
      end()
    }
  }

  async function forNewPayment<T>(work: () => Promise<T>): Promise<T> {
    const isTrial = silences.isSuspect()
    if (silences.isResting() || (isTrial && isProbing))
      throw new BankUnavailableError(`${bank.id} does not answer at the moment`)
    if (!isTrial) return watched('stage', work)
    isProbing = true
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

  outages.onChange(publish)
  publish()
  return {
    connector: { ...watchConnector(bank, watched, forNewPayment), execute },
    circuit: { isAvailable: () => unavailableSince() === undefined, unavailableSince },
  }
}

/** One request that a bank rejects, or a wait of our own, must not close the bank to every other payment. */
function outcomeOf(error: unknown): 'unavailable' | 'refused' | 'unknown' | 'failed' {
  if (!(error instanceof BankUnavailableError)) return 'failed'
  return ({ silent: 'unavailable', answers: 'refused', unknown: 'unknown' } as const)[error.bank]
}

/** What this process has seen of a bank: calls without an answer in a row, and its rest after too many. */
type Silences = {
  noteAnswer(): void
  noteSilence(): void
  isResting(): boolean
  /** Whether a new payment would be a trial: the bank has been silent for too long, here or elsewhere. */
  isSuspect(): boolean
}

function makeSilences(
  bankId: string,
  { outages, log, now }: { outages: Outages; log: Logger; now: () => number },
): Silences {
  let failureCount = 0
  let restMs = REST_MS
  let restsUntil = -Infinity
  let silentSince = -Infinity
  let silentLast = -Infinity
  let hasAnswered = true
  /** Others have had an answer since the last failure here. */
  const isRefuted = (): boolean => (outages.answeredAt(bankId) ?? -Infinity) > silentLast
  const isResting = (): boolean => now() < restsUntil && !isRefuted()
  const isSuspect = (): boolean => failureCount >= FAILURES_MAX || outages.of(bankId) !== undefined

  function noteAnswer(): void {
    if (failureCount >= FAILURES_MAX) log.info({ bank: bankId }, 'the bank answers again')
    failureCount = 0
    restMs = REST_MS
    restsUntil = -Infinity
    hasAnswered = true
    outages.reportAnswer(bankId)
  }

  function noteSilence(): void {
    if (isRefuted()) {
      failureCount = 0
      restMs = REST_MS
    }
    if (failureCount === 0 || now() - silentLast > SILENCE_GAP_MS) silentSince = now()
    failureCount = isSuspect() ? Math.max(failureCount + 1, FAILURES_MAX) : failureCount + 1
    const rests = isResting()
    silentLast = now()
    if (failureCount < FAILURES_MAX || rests) return
    restsUntil = now() + restMs
    log.warn({ bank: bankId, seconds: restMs / 1_000 }, 'the bank does not answer: new payments are not offered it')
    restMs = Math.min(restMs * 2, REST_MS_MAX)
    outages.reportSilence(bankId, { since: silentSince, restsUntil, isFirst: hasAnswered })
    hasAnswered = false
  }

  return { noteAnswer, noteSilence, isResting, isSuspect }
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
