import type { App } from '../app.ts'
import { deleteOldKeys } from './keys-sql.ts'

/** Keys of one run; the next run follows at once while there are more. */
const FORGOTTEN_MAX = 1_000

/** Forgets keys past their 24 hours, once an hour (decision 12): they answer nothing any more. A job. */
export async function forgetOrderKeys(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  return { more: (await deleteOldKeys(app.pool, FORGOTTEN_MAX)) === FORGOTTEN_MAX }
}
