import type { App } from '../app.ts'
import { listAccountRows } from './listing-sql.ts'
import type { Page } from './listing-sql.ts'
import type { AccountRecord } from './record.ts'

/** A page of a customer's accounts, oldest first, and their total count. */
export async function listAccounts(
  app: Pick<App, 'pool'>,
  page: Page & { customerId: string },
): Promise<{ accounts: readonly AccountRecord[]; count: bigint }> {
  const rows = await listAccountRows(app.pool, page)
  return { accounts: rows.filter((row) => row.id !== null), count: rows[0]?.account_count ?? 0n }
}
