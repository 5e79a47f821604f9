import type { App } from '../app.ts'
import { readExamined } from '../db/examined-pages.ts'
import { keyOfCursor } from '../lib/cursor.ts'
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
  const after = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  const { rows, nextCursor } = await readExamined({
    limit: query.limit,
    after,
    read: (afterId, limit) => listTransactionRows(app.pool, { merchantId, query: { ...query, limit }, afterId }),
    keyOf: ({ payment_id: id }) => id,
  })
  return { transactions: rows, nextCursor }
}
