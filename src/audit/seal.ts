import type { App } from '../app.ts'
import { insertCheckpoint, SEALED_CHAINS, tryLockSealing } from './chains-sql.ts'

/**
 * The minimum age of a sealed row: longer than any transaction of the service lives (migrations/0009_audit.sql). It grows with
 * their limits (config `SVC_DATABASE_TIMEOUT_FACTOR`).
 */
const AGE_SECONDS = 600

/** The most rows of one checkpoint: a digest over more than a few hundred kilobytes of hashes would take too long. */
const ROWS_MAX = 10_000

/**
 * Seals the audit trail with one checkpoint for each chain that has grown, so that the removal of rows from its end can be
 * detected. A job; one process at a time runs it.
 */
export function sealAudit(app: Pick<App, 'pool' | 'ids' | 'config'>): Promise<{ more: boolean }> {
  return sealRows(app, ROWS_MAX)
}

/** `sealAudit` with checkpoints of another size. */
export function sealRows(app: Pick<App, 'pool' | 'ids' | 'config'>, rowsMax: number): Promise<{ more: boolean }> {
  return app.pool.transaction(async (tx) => {
    if (!(await tryLockSealing(tx))) return { more: false }
    const ageSeconds = AGE_SECONDS * app.config.databaseTimeoutFactor
    let more = false
    for (const chain of SEALED_CHAINS) {
      const checkpoint = { id: app.ids.uuid(), chain, rowsMax, ageSeconds }
      const sealed = await insertCheckpoint(tx, checkpoint)
      if (sealed?.row_count === BigInt(rowsMax)) more = true
    }
    return { more }
  })
}
