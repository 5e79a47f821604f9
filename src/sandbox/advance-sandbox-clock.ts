import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { findSubjects } from './clock-subjects.ts'
import type { NamedSubjects } from './clock-subjects.ts'
import { clockAdvanceMs } from './clock-advance.ts'
import type { ClockAdvance } from './clock-advance.ts'
import { idsOf } from './read-sandbox-clock.ts'
import { advanceDueTimes, findNextDue, holdClocks } from './sql.ts'
import type { ClockSubjects } from './sql.ts'

/**
 * The time limit for the work at one due time: a worker's attempt at an endpoint that does not answer takes five
 * seconds.
 */
const IDLE_WITHIN_MS = 30_000

/** The interval of polling whether the work at a due time is done. */
const POLL_MS = 5

/** A job is woken when it is first due; that may be lost, so it is repeated, but rarely: each costs a notification. */
const POLLS_PER_WAKE = 20

/** The clock stops slightly after a due time, so that rounding can't make a comparison with it fail. */
const BEYOND_MS = 1

/**
 * The maximum number of stops: something that becomes due repeatedly, such as a payment at a bank that never answers,
 * would otherwise never end.
 */
const STOPS_MAX = 1_500

export type AdvanceInput = NamedSubjects & ClockAdvance & { actor: Actor }

/**
 * Advances the sandbox clock of a merchant, of customers of the bank, or of both. It stops at every due time of theirs,
 * in chronological order, lets the jobs do the due work, and continues with whatever they have scheduled next. Ten
 * hours of retries thus happen in their order, in only the time that they take to run. A worker must be running. The
 * first step is recorded in the audit trail, in its own transaction.
 * @throws {DomainError} MERCHANT_NOT_FOUND, VALIDATION_FAILED at `by`, `to` or a subject, SERVICE_UNAVAILABLE when no
 *   worker does the work, or when more becomes due than one request can wait for
 */
export async function advanceSandboxClock(
  app: App,
  input: AdvanceInput,
  stopsMax = STOPS_MAX,
): Promise<{ stops: number; advancedMs: number }> {
  const subjects = await findSubjects(app, input)
  const advancedMs = await clockAdvanceMs(app, subjects, input)
  let left = advancedMs
  let stops = 0
  for (;;) {
    const jobs = await waitUntilIdle(app, subjects)
    if (left === 0) break
    if (stops >= stopsMax) throw abortedAdvance({ passedMs: advancedMs - left, advancedMs, jobs })
    const step = await takeStep(app, subjects, {
      left,
      record: left === advancedMs ? { input, advancedMs } : undefined,
    })
    left -= step.ms
    if (step.isStop) stops += 1
    else if (left === 0) break
  }
  return { stops, advancedMs }
}

type Step = { ms: number; isStop: boolean }
type StepOptions = { left: number; record: { input: AdvanceInput; advancedMs: number } | undefined }

/**
 * Takes one step, to the next due time or the end; none when a concurrent step has made something due in the meantime.
 */
function takeStep(app: App, subjects: ClockSubjects, { left, record }: StepOptions): Promise<Step> {
  return app.pool.transaction(async (tx) => {
    await holdClocks(tx, idsOf(subjects))
    const { jobs, underway, wait_ms } = await findNextDue(tx, subjects)
    if (jobs.length > 0 || underway > 0) return { ms: 0, isStop: false }
    const isStop = wait_ms !== null && wait_ms <= left
    // Whole milliseconds, so that the steps add up to exactly the requested time.
    const ms = isStop ? Math.min(left, Math.ceil(wait_ms) + BEYOND_MS) : left
    await advanceDueTimes(tx, subjects, ms)
    if (record !== undefined) await recordAdvance(app, tx, { subjects, ...record })
    return { ms, isStop }
  })
}

type AdvanceStart = { subjects: ClockSubjects; input: AdvanceInput; advancedMs: number }

async function recordAdvance(
  app: App,
  tx: DatabaseTransactionConnection,
  { subjects, input: { actor, customerIds = [] }, advancedMs }: AdvanceStart,
): Promise<void> {
  const [subjectId = ''] = idsOf(subjects)
  const after = { advance_ms: advancedMs, ...(customerIds.length === 0 ? {} : { customer_ids: customerIds }) }
  await recordAction(app, tx, { actor, action: 'sandbox.clock', merchantId: subjects.merchantId, subjectId, after })
}

/** Waits until nothing of the subjects is due or in progress, and returns the jobs that had work until then. */
async function waitUntilIdle(app: App, subjects: ClockSubjects): Promise<readonly string[]> {
  const deadline = performance.now() + IDLE_WITHIN_MS
  const busy = new Set<string>()
  for (let polls = 0; ; polls += 1) {
    const { jobs, underway } = await findNextDue(app.pool, subjects)
    if (jobs.length === 0 && underway === 0) return [...busy]
    if (performance.now() > deadline) {
      throw new DomainError('SERVICE_UNAVAILABLE', `due work is not being done${named(jobs)}`, {
        next: 'check that a worker runs: svc status',
      })
    }
    for (const job of jobs) {
      if (polls % POLLS_PER_WAKE === 0 || !busy.has(job)) app.wake.notify(job)
      busy.add(job)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

type AbortedAdvance = { passedMs: number; advancedMs: number; jobs: readonly string[] }

/** The advanced time stays advanced; the caller can request the rest. */
function abortedAdvance({ passedMs, advancedMs, jobs }: AbortedAdvance): DomainError {
  const passed = `${Math.floor(passedMs / 1_000)}s of ${Math.floor(advancedMs / 1_000)}s were advanced`
  return new DomainError('SERVICE_UNAVAILABLE', `${passed}: something becomes due repeatedly${named(jobs)}`, {
    next: 'end the cause, such as a bank that never answers (svc sandbox bank faults), then advance by the rest',
  })
}

function named(jobs: readonly string[]): string {
  return jobs.length === 0 ? '' : `: ${jobs.join(', ')}`
}
