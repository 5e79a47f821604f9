import type { App } from '../app.ts'
import { deleteOldSignIns } from './sign-in-sql.ts'

/** Rows of one table that are forgotten in one run. */
const ROWS_MAX = 1_000

/** Forgets who asked for links, used up tokens, failures and ended sessions once they are of no use. A job. */
export async function forgetSignIns(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  return { more: (await deleteOldSignIns(app.pool, ROWS_MAX)) === ROWS_MAX }
}
