import type { App } from '../app.ts'
import { keyOfCursor, pageOfExamined } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import type { TransactionRecord } from './record.ts'
import { listTransactionRows } from './sql.ts'

/**
 * A page of a merchant's transactions, the newest first; the cursor names the last one of the page before.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listTransactions(
  app: Pick<App, 'pool'>,
  { merchantId, query }: { merchantId: string; query: PaymentListQuery },
): Promise<{ transactions: readonly TransactionRecord[]; nextCursor: string | null }> {
  const afterId = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  const found = await listTransactionRows(app.pool, { merchantId, query, afterId })
  const { rows, nextCursor } = pageOfExamined(found, query.limit, ({ payment_id }) => payment_id)
  return { transactions: rows, nextCursor }
}
