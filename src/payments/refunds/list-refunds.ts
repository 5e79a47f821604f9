import type { App } from '../../app.ts'
import { keyOfCursor, pageOf } from '../../lib/cursor.ts'
import { isUuid } from '../../lib/ids.ts'
import { getPayment } from '../get-payment.ts'
import type { PaymentKey } from '../get-payment.ts'
import type { ListedRefund } from './record.ts'
import { listRefundRows } from './sql.ts'

/**
 * A page of a payment's refunds, the oldest first, with the FAILED and PENDING ones. The cursor names the last refund of
 * the page before.
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another merchant's alike; VALIDATION_FAILED at
 *   `cursor`
 */
export async function listRefunds(
  app: App,
  { limit, cursor, ...key }: PaymentKey & { limit: number; cursor?: string | undefined },
): Promise<{ refunds: readonly ListedRefund[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  await getPayment(app, key)
  const found = await listRefundRows(app.pool, { ...key, limit: limit + 1, afterId })
  const { rows, nextCursor } = pageOf(found, limit, ({ id }) => id)
  return { refunds: rows, nextCursor }
}
