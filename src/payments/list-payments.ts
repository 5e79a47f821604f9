import type { App } from '../app.ts'
import { keyOfCursor, pageOfExamined } from '../lib/cursor.ts'
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
  const afterId = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  const rows = await listPaymentRows(app.pool, { merchantId, query, afterId })
  const { rows: payments, nextCursor } = pageOfExamined(rows, query.limit, ({ id }) => id)
  return { payments, nextCursor }
}

/** The audit events of one payment, the oldest first. */
export async function listPaymentEvents(app: App, key: PaymentKey): Promise<readonly PaymentEventRecord[]> {
  await findPayment(app, key)
  return listPaymentEventRows(app.pool, key)
}
