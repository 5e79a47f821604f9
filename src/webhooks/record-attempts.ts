import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { leaseMs } from './claim.ts'
import type { AttemptResult } from './deliver.ts'
import { recordAttempts } from './sql.ts'

/**
 * Results within a few milliseconds are recorded in one statement; one statement each would double the database's work.
 */
const GATHER_MS = 3
const BATCH_MAX = 500
const BACK_OFF_MAX_MS = 2_000

export type Recorder = {
  /** Resolves when the attempt is recorded, or when its lease has ended before that. Never rejects. */
  record(attempt: AttemptResult): Promise<void>
}

type Waiting = { attempt: AttemptResult; done: () => void }

/**
 * Records attempts in batches, fenced by their claim counts. While the database is unavailable it retries until the
 * leases end: attempts not recorded by then are sent again, with the same event id.
 */
export function makeRecorder(app: Pick<App, 'pool' | 'log'>, worker: string): Recorder {
  let waiting: Waiting[] = []
  let running = false

  async function flushAll(): Promise<void> {
    running = true
    await delay(GATHER_MS)
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      await recordBatch(
        app,
        worker,
        batch.map(({ attempt }) => attempt),
      )
      for (const { done } of batch) done()
    }
    running = false
  }

  return {
    record: (attempt) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ attempt, done: resolve })
      if (!running) void flushAll()
      return promise
    },
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
      const lost = batch.length - recorded.length
      if (lost > 0) app.log.warn({ lost }, 'webhook attempts ended after their lease and were not recorded')
      return
    } catch (error) {
      app.log.error({ err: error, attempts: batch.length }, 'webhook attempts could not be recorded')
      if (performance.now() + backOffMs > givenUpAt) return
      await delay(backOffMs)
    }
  }
}
