import type { DatabasePool, DatabaseTransactionConnection } from 'slonik'
import { sql } from './sql.ts'

/** Carries the result out of the transaction: slonik rolls back only what throws. */
class Rollback<T> extends Error {
  readonly result: T

  constructor(result: T) {
    super('the transaction is rolled back')
    this.result = result
  }
}

/**
 * Runs `work` in a transaction that is always rolled back, and returns its result. Deferred constraints are checked
 * first, as a commit would check them.
 */
export function runRolledBack<T>(
  pool: Pick<DatabasePool, 'connect'>,
  work: (tx: DatabaseTransactionConnection) => Promise<T>,
): Promise<T> {
  // slonik closes a connection whose handler throws; this one is intact, so the error ends inside the handler.
  return pool.connect((connection) => rollBackAfter(connection, work))
}

/** The same on one connection: within a transaction back to a savepoint, which also frees what `work` has locked. */
export async function rollBackAfter<T>(
  connection: Pick<DatabaseTransactionConnection, 'transaction'>,
  work: (tx: DatabaseTransactionConnection) => Promise<T>,
): Promise<T> {
  try {
    return await connection.transaction(async (tx) => {
      // Longer than a bank's timeout, so that its silence is an answer and not a lost connection.
      await tx.query(sql.typeAlias('void')`set local idle_in_transaction_session_timeout = '15s'`)
      const result = await work(tx)
      await tx.query(sql.typeAlias('void')`set constraints all immediate`)
      throw new Rollback(result)
    })
  } catch (error) {
    if (error instanceof Rollback) return error.result as T
    throw error
  }
}
