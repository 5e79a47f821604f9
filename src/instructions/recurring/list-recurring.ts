import type { App } from '../../app.ts'
import type { Paging } from '../../wire/open-banking.ts'
import { listRecurringRows } from './read-sql.ts'
import type { RecurringView } from './record.ts'

/** A page of a customer's recurring payments, the newest first, and their total count. */
export async function listRecurring(
  app: Pick<App, 'pool'>,
  page: Paging & { customerId: string },
): Promise<{ recurring: readonly RecurringView[]; count: bigint }> {
  const rows = await listRecurringRows(app.pool, page)
  return { recurring: rows.filter((row) => row.id !== null), count: rows[0]?.recurring_count ?? 0n }
}
