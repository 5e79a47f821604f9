import type { App } from '../app.ts'
import { deleteExpiredKeys } from './idempotency-keys-sql.ts'

/** Keys per run; the next run follows immediately while there are more. */
const DELETED_MAX = 1_000

/** Deletes idempotency keys older than 24 hours, once an hour (decision 12): they have no effect any more. A job. */
export async function deleteExpiredOrderKeys(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  return { more: (await deleteExpiredKeys(app.pool, DELETED_MAX)) === DELETED_MAX }
}
