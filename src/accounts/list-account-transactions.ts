import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { bookingPeriod } from './booking-period.ts'
import type { BookingFilter } from './booking-period.ts'
import { accountNotFound } from './get-balance.ts'
import type { AccountKey } from './get-balance.ts'
import { listTransactionRows } from './listing-sql.ts'
import type { Page } from './listing-sql.ts'
import type { AccountTransactionRecord } from './record.ts'

/**
 * A page of an account's transactions, newest first, and their total count; a page after the last one is empty, not an
 * error.
 * @throws {DomainError} VALIDATION_FAILED for a period that ends before it begins; ACCOUNT_NOT_FOUND for an unknown id,
 *   another customer's account and an invalid id alike
 */
export async function listAccountTransactions(
  app: Pick<App, 'pool'>,
  { customerId, accountId, query }: AccountKey & { query: Page & BookingFilter },
): Promise<{ transactions: readonly AccountTransactionRecord[]; count: bigint }> {
  const { page, pageSize } = query
  const period = bookingPeriod(query)
  const key = { customerId, accountId }
  const rows = isUuid(accountId) ? await listTransactionRows(app.pool, { ...key, ...period, page, pageSize }) : []
  const [range] = rows
  if (range === undefined) throw accountNotFound()
  const count = range.last_number - range.first_number + 1n
  return { transactions: rows.filter((row) => row.number !== null), count: count < 0n ? 0n : count }
}
