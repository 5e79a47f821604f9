import { durationText } from '../../../src/lib/duration.ts'
import { playAs } from './case-run.ts'
import type { CaseRun } from './case-run.ts'
import { refuseOtherError } from './expected-refusal.ts'
import { StepFailure } from '../failure.ts'
import { inBranch } from './last-exchange.ts'
import type { Plan, Step } from '../read/read-step.ts'
import { refuseForged } from './stage.ts'
import { isUnreachable } from './describe-failure.ts'
import type { Failed } from './describe-failure.ts'
import { VERBS } from '../language.ts'

export type StepResult = Pick<Step, 'number' | 'label' | 'title'> & {
  durationMs: number
  status: 'passed' | 'failed' | 'skipped'
}

export type Playing = {
  run: CaseRun
  limits: Limits
  /** What became of the steps so far, by their number. */
  ended: Map<number, StepResult>
  /** Several where branches failed at the same time. */
  failed: Failed[]
}

type Limits = {
  timeoutMs: number
  signal: AbortSignal
  reportWaiting?: ((step: Step) => void) | undefined
  reportStep?: ((step: StepResult) => void) | undefined
}

/** After so long a viewer wonders what is waited for. */
const LONG_MS = 2_000

/** Plays the parts one after the other up to the first that fails. Whether none did. */
export async function playPlan(plan: Plan, playing: Playing): Promise<boolean> {
  for (const part of plan) {
    const isPassed = 'branches' in part ? await playBranches(part.branches, playing) : await playStep(part, playing)
    if (!isPassed) return false
  }
  return true
}

/** All at once; those that go well are played to their end also where another fails. */
async function playBranches(branches: readonly Plan[], playing: Playing): Promise<boolean> {
  const passed = await Promise.all(branches.map((branch) => inBranch(() => playPlan(branch, playing))))
  return passed.every(Boolean)
}

async function playStep(step: Step, { run, limits, ended, failed }: Playing): Promise<boolean> {
  const { number, label, title } = step
  const begunAt = performance.now()
  const timer = setTimeout(() => limits.reportWaiting?.(step), LONG_MS)
  const error = await errorOf(() => play(run, step, limits))
  clearTimeout(timer)
  const status = error === undefined ? 'passed' : 'failed'
  const result: StepResult = { number, label, title, durationMs: performance.now() - begunAt, status }
  ended.set(number, result)
  limits.reportStep?.(result)
  if (error !== undefined) failed.push({ error, step, exchange: run.lastExchange })
  return error === undefined
}

async function play(run: CaseRun, { verb, input, expectError, actingAs }: Step, limits: Limits): Promise<void> {
  const error = await errorOf(() =>
    inTime(run, limits, async () => {
      const failed = await errorOf(() => playAs(run, actingAs, (acting) => VERBS[verb].play(acting, input)))
      refuseForged(run)
      if (failed !== undefined) throw failed
    }),
  )
  if (expectError === undefined && error !== undefined) throw error
  if (expectError !== undefined) refuseOtherError(run, expectError, error)
}

export async function errorOf(play: () => Promise<void>): Promise<unknown> {
  try {
    await play()
    return undefined
  } catch (error) {
    return error ?? new Error('something without a name was thrown')
  }
}

/** A failure after the end of the case's time is reported as a time-out, which ends requests under way. */
export async function inTime(run: CaseRun, { timeoutMs, signal }: Limits, play: () => Promise<void>): Promise<void> {
  const error = await errorOf(play)
  const isOver = performance.now() > run.deadline || (run.signal.aborted && !signal.aborted)
  if (isOver && !isUnreachable(error))
    throw new StepFailure(`the case may take ${durationText(timeoutMs)}, and they were over in this step`, {
      hint: 'a longer --timeout',
      cause: error,
    })
  if (error !== undefined) throw error
}
