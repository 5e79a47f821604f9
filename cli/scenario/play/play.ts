import type { Client } from '../../client/call.ts'
import { TIMER_MAX_MS } from '../../base/times.ts'
import type { CaseRun } from './case-run.ts'
import type { Failure } from '../failure.ts'
import { makeKeys } from './keys.ts'
import { unmetNeed, GOODBYE_MS, clearStage, prepareStage, setStage } from './stage.ts'
import { errorOf, inTime, playPlan } from './play-plan.ts'
import type { StepResult } from './play-plan.ts'
import type { Case } from '../read/read-case.ts'
import type { Step } from '../read/read-step.ts'
import { isUnreachable, describeFailure } from './describe-failure.ts'
import type { Failed } from './describe-failure.ts'

export type CaseResult = {
  scenario: Case
  durationMs: number
  steps: readonly StepResult[]
  failure: Failure | undefined
  made: MadeIds
  /** Why it was not played, where the service has not what it needs. */
  skipped?: string | undefined
}

export type PlayOptions = {
  /** How long one case may take. */
  timeoutMs: number
  /** Ends a case early; its result is then worth nothing. */
  signal: AbortSignal
  /** What keys follow from; undefined for keys by chance. */
  seed?: string | undefined
  /** Where commands of `exec` run; undefined where they are not allowed. */
  exec?: CaseRun['exec']
  /** Called when a step takes long, to show it. */
  reportWaiting?: ((step: Step) => void) | undefined
  /** Called with each step that has ended, to show it. */
  reportStep?: ((step: StepResult) => void) | undefined
  rerun: (scenario: Case) => string
}

/**
 * Plays one case with a merchant and a receiver of its own.
 * @throws {CliError} SERVICE_UNREACHABLE, or why its merchant may not be made: then no other case can be played either
 */
export async function playCase(client: Client, scenario: Case, options: PlayOptions): Promise<CaseResult> {
  const begunAt = performance.now()
  const over = overAfter(options)
  const run = prepareStage(client, {
    deadline: begunAt + options.timeoutMs,
    signal: over.signal,
    exec: options.exec,
    newKey: makeKeys(options.seed, scenario.key),
    isSeeded: options.seed !== undefined,
  })
  try {
    const skipped = await unmetNeed(run.client, scenario.given)
    if (skipped !== undefined) return { ...unplayed(run, scenario), skipped }
    const { steps, failed } = await playSteps(run, scenario, options)
    // The case may be over; what helps to understand that is still asked for, but not for long.
    run.client = { ...run.client, signal: options.signal, timeoutMs: Math.min(run.client.timeoutMs, GOODBYE_MS) }
    const failure =
      failed === undefined
        ? undefined
        : await describeFailure(run, scenario, { ...failed, rerun: options.rerun(scenario) })
    return { scenario, durationMs: performance.now() - begunAt, steps, failure, made: idsOf(run) }
  } finally {
    over.release()
    await clearStage(run)
  }
}

function unplayed(run: CaseRun, scenario: Case): CaseResult {
  const steps = scenario.steps.map(({ number, label, title }) => ({
    number,
    label,
    title,
    durationMs: 0,
    status: 'skipped' as const,
  }))
  return { scenario, durationMs: 0, steps, failure: undefined, made: idsOf(run) }
}

/** Ends what a case has under way when its time is over, and when its result is no longer wanted. */
function overAfter({ timeoutMs, signal }: PlayOptions): { signal: AbortSignal; release: () => void } {
  const over = new AbortController()
  const end = (): void => over.abort()
  const timer = setTimeout(end, Math.min(timeoutMs, TIMER_MAX_MS))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  return {
    signal: over.signal,
    release: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    },
  }
}

/**
 * Steps that were not reached are skipped ones. Of branches that failed at the same time, the first in the file is
 * reported.
 */
async function playSteps(
  run: CaseRun,
  { given, plan, steps }: Case,
  limits: PlayOptions,
): Promise<{ steps: StepResult[]; failed: Failed | undefined }> {
  const notMade = await errorOf(() => inTime(run, limits, () => setStage(run, given)))
  const failed: Failed[] =
    notMade === undefined ? [] : [{ error: notMade, step: undefined, exchange: run.lastExchange }]
  const ended = new Map<number, StepResult>()
  if (notMade === undefined) await playPlan(plan, { run, limits, ended, failed })
  const inOrder = failed.toSorted((a, b) => (a.step?.number ?? 0) - (b.step?.number ?? 0))
  const first = inOrder.find(({ error }) => isUnreachable(error)) ?? inOrder[0]
  const beside = inOrder.flatMap((each) => (each === first || each.step === undefined ? [] : [each.step.label]))
  return {
    steps: steps.map(
      ({ number, label, title }) => ended.get(number) ?? { number, label, title, durationMs: 0, status: 'skipped' },
    ),
    failed: first === undefined ? undefined : { ...first, beside },
  }
}

/**
 * What a case made, by the ids that the service gave: to look at it afterwards, and to compare two runs of one seed. In
 * the order of names and ids, for what is made at the same time is there in another order each time; events are those
 * that the receiver had at the end of the case.
 */
export type MadeIds = {
  /** Empty where the merchant was not made. */
  merchantId: string
  payments: readonly { name: string; paymentId: string }[]
  events: readonly { eventId: string; eventType: string }[]
}

export function idsOf({ merchant, made, receiver }: CaseRun): MadeIds {
  const events = new Map((receiver?.receipts ?? []).map(({ eventId, eventType }) => [eventId, { eventId, eventType }]))
  return {
    merchantId: merchant.merchant_id,
    payments: made
      .flatMap((each) => (each.kind === 'payment' ? [{ name: each.name, paymentId: each.created.payment_id }] : []))
      .toSorted((one, other) => compare(one.name, other.name) || compare(one.paymentId, other.paymentId)),
    events: [...events.values()].toSorted((one, other) => compare(one.eventId, other.eventId)),
  }
}

const { compare } = new Intl.Collator('en', { numeric: true })
