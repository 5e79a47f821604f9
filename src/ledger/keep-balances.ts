import type { App } from '../app.ts'
import { foldEntries } from './sql.ts'

const ROWS_MAX = 5_000

/**
 * Adds new entries to the kept balances, so that reading a balance does not have to sum more than the entries of the
 * last seconds. A job.
 */
export async function keepBalances(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  return { more: (await foldEntries(app.pool, ROWS_MAX)) === ROWS_MAX }
}

/** Adds everything that was posted for a merchant until now to the kept balances, and to the lines of settlements. */
export async function keepBalancesOf(app: Pick<App, 'pool'>, merchantId: string): Promise<void> {
  while ((await foldEntries(app.pool, ROWS_MAX, merchantId)) === ROWS_MAX);
}
