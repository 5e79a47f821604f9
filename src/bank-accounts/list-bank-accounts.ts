import type { App } from '../app.ts'
import type { BankAccount } from '../wire/bank-accounts.ts'
import { maskedAccount } from './numbers.ts'
import { listBankAccountRows } from './sql.ts'

/** All accounts that can be active, and some disabled ones. */
const LISTED_MAX = 100

/** A merchant's accounts with masked numbers: the active ones first, then the most recently added disabled ones. */
export async function listBankAccounts(
  app: Pick<App, 'pool' | 'sealer'>,
  merchantId: string,
): Promise<readonly BankAccount[]> {
  const rows = await listBankAccountRows(app.pool, merchantId, LISTED_MAX)
  return rows.map((row) => maskedAccount(app, row))
}
