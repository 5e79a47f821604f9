import type { App } from '../app.ts'
import { foldBalanceChanges } from './sql.ts'

const ROWS_MAX = 5_000

/**
 * Adds what postings changed to the kept balances, so that reading a balance does not have to sum more than the changes
 * of the last seconds. A job.
 */
export async function keepBalances(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  return { more: (await foldBalanceChanges(app.pool, ROWS_MAX)) === ROWS_MAX }
}
