import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { makeAutoResetEvent } from '../lib/auto-reset-event.ts'
import { leaseMs } from './claim.ts'
import type { AttemptResult } from './deliver.ts'
import { recordAttempts } from './sql.ts'

/**
 * The longest time from one record to the next. A result after a pause is recorded immediately; under load those that come
 * within this time, or until there are enough, share a statement, because the statement itself costs as much as recording
 * fifty of them.
 */
const GATHER_MS = 20
const ENOUGH = 100
const BATCH_MAX = 500
const BACK_OFF_MAX_MS = 2_000

export type Recorder = {
  /** Resolves when the attempt is recorded, or when its lease has ended before that. Never rejects. */
  record(attempt: AttemptResult): Promise<void>
  /** Does not wait for more results. */
  hurry(): void
}

type Waiting = { attempt: AttemptResult; done: () => void }

/**
 * Records attempts in batches, fenced by the epochs of their lanes. While the database is unavailable it retries until the
 * leases end: attempts not recorded by then are sent again, with the same event id.
 */
export function makeRecorder(app: Pick<App, 'pool' | 'log'>, worker: string): Recorder {
  let waiting: Waiting[] = []
  let running = false
  const hurried = makeAutoResetEvent()

  async function flushAll(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      const nextAt = performance.now() + GATHER_MS
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      await recordBatch(
        app,
        worker,
        batch.map(({ attempt }) => attempt),
      )
      for (const { done } of batch) done()
      await hurried.wait(Math.max(nextAt - performance.now(), 0))
    }
    running = false
  }

  return {
    record: (attempt) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ attempt, done: resolve })
      if (!running) void flushAll()
      else if (waiting.length === ENOUGH) hurried.open()
      return promise
    },
    hurry: () => hurried.open(),
  }
}

async function recordBatch(
  app: Pick<App, 'pool' | 'log'>,
  worker: string,
  batch: readonly AttemptResult[],
): Promise<void> {
  const givenUpAt = performance.now() + leaseMs
  for (let backOffMs = 100; ; backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS)) {
    try {
      const rows = batch.map(({ begunAt, ...row }) => ({ ...row, age_ms: Math.round(performance.now() - begunAt) }))
      const recorded = await recordAttempts(app.pool, worker, rows)
      const lost = batch.length - recorded.count
      if (lost > 0)
        app.log.warn(
          { lost },
          'webhook attempts were not recorded: their lease had ended, or they had been recorded before',
        )
      return
    } catch (error) {
      app.log.error(
        { err: error, attempts: batch.length, deliveries: batch.slice(0, 10).map(({ delivery_id: id }) => id) },
        'webhook attempts could not be recorded',
      )
      if (performance.now() + backOffMs > givenUpAt) return
      await delay(backOffMs)
    }
  }
}
