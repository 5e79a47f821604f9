import type { App } from '../app.ts'
import { deleteExpiredKeys } from './idempotency-keys-sql.ts'

/** Keys of one run; the next run follows at once while there are more. */
const DELETED_MAX = 1_000

/** Forgets keys past their 24 hours, once an hour (decision 12): they answer nothing any more. A job. */
export async function deleteExpiredOrderKeys(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  return { more: (await deleteExpiredKeys(app.pool, DELETED_MAX)) === DELETED_MAX }
}
