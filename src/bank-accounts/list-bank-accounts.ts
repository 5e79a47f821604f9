import type { App } from '../app.ts'
import type { BankAccount } from '../wire/bank-accounts.ts'
import { maskedAccount } from './numbers.ts'
import { listBankAccountRows } from './sql.ts'

/** All that can be active, and the disabled ones that anyone still looks for. */
const LISTED_MAX = 100

/** A merchant's accounts, masked: those that payouts go to first, and the latest of those disabled. */
export async function listBankAccounts(
  app: Pick<App, 'pool' | 'sealer'>,
  merchantId: string,
): Promise<readonly BankAccount[]> {
  const rows = await listBankAccountRows(app.pool, merchantId, LISTED_MAX)
  return rows.map((row) => maskedAccount(app, row))
}
