import type { App } from '../app.ts'
import { fromMinorUnits } from '../lib/minor-units.ts'
import type { BookTotals } from '../wire/sandbox-bank.ts'
import { sumBooks } from './books-sql.ts'
import type { BookTotalsRecord } from './record.ts'

/**
 * Checks the bank's books at one point in time: the balances must equal what came in from other banks less what went
 * out to them.
 */
export async function checkBooks({
  pool,
}: Pick<App, 'pool'>): Promise<{ checkedAt: string; isBalanced: boolean; totals: BookTotals[] }> {
  const rows = await sumBooks(pool)
  return {
    checkedAt: rows[0]?.checked_at ?? new Date().toISOString(),
    isBalanced: rows.every((row) => differenceOf(row) === 0n && row.wrong_accounts === 0),
    totals: rows.map((row) => ({
      currency: row.currency,
      accounts: row.accounts,
      transfers: row.transfers,
      balance: fromMinorUnits(row.balance, row.currency),
      came_in: fromMinorUnits(row.came_in, row.currency),
      went_out: fromMinorUnits(row.went_out, row.currency),
      difference: fromMinorUnits(differenceOf(row), row.currency),
      wrong_accounts: row.wrong_accounts,
    })),
  }
}

function differenceOf({ balance, came_in, went_out }: BookTotalsRecord): bigint {
  return balance - came_in + went_out
}
