import type { App } from '../app.ts'
import { insertCheckpoint, tryLockSealing } from './chains-sql.ts'
import type { SealedChain } from './chains-sql.ts'

const SEALED: readonly SealedChain[] = ['operator_actions', 'payment_events', 'dispute_events']

/** How old rows are when they are sealed: older than any transaction of the service (migrations/0007_audit.sql). */
const AGE_SECONDS = 600

/** The rows of one checkpoint at most: a digest over more than a few hundred kilobytes of hashes would take its time. */
const ROWS_MAX = 10_000

/**
 * Writes down what the audit trail holds, so that rows that are cut off its end later are missed: one checkpoint for
 * each chain that has grown. A job; one process at a time does it.
 */
export function sealAudit(app: Pick<App, 'pool' | 'ids'>): Promise<{ more: boolean }> {
  return sealRows(app, ROWS_MAX)
}

/** `sealAudit` with checkpoints of another size. */
export function sealRows(app: Pick<App, 'pool' | 'ids'>, rowsMax: number): Promise<{ more: boolean }> {
  return app.pool.transaction(async (tx) => {
    if (!(await tryLockSealing(tx))) return { more: false }
    let more = false
    for (const chain of SEALED) {
      const seal = { id: app.ids.uuid(), chain, rowsMax, ageSeconds: AGE_SECONDS }
      if ((await insertCheckpoint(tx, seal)) === rowsMax) more = true
    }
    return { more }
  })
}
