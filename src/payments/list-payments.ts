import type { App } from '../app.ts'
import { readExamined } from '../db/examined-pages.ts'
import { keyOfCursor } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import { listPaymentRows } from './list-sql.ts'
import { findPayment } from './get-payment.ts'
import type { PaymentKey } from './get-payment.ts'
import type { PaymentEventRecord, PaymentRecord } from './record.ts'
import { listPaymentEventRows } from './sql.ts'

/** A page of a merchant's payments, the newest first; the cursor names the last payment of the page before. */
export async function listPayments(
  app: App,
  { merchantId, query }: { merchantId: string; query: PaymentListQuery },
): Promise<{ payments: readonly PaymentRecord[]; nextCursor: string | null }> {
  const after = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  const { rows, nextCursor } = await readExamined({
    limit: query.limit,
    after,
    read: (afterId, limit) => listPaymentRows(app.pool, { merchantId, query: { ...query, limit }, afterId }),
    keyOf: ({ id }) => id,
  })
  return { payments: rows, nextCursor }
}

/** The audit events of one payment, the oldest first. */
export async function listPaymentEvents(app: App, key: PaymentKey): Promise<readonly PaymentEventRecord[]> {
  await findPayment(app, key)
  return listPaymentEventRows(app.pool, key)
}
