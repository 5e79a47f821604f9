import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import { expirePayment } from './expire-consents.ts'
import type { PaymentEventRecord, PaymentRecord, PaymentWithHistory } from './record.ts'
import { listPaymentEventRows, listPaymentRows } from './sql.ts'

export type PaymentKey = { merchantId: string; id: string }

/**
 * A payment with its history. One whose consent has ended meanwhile is expired first, so that nobody reads a payment
 * that still waits although it can't be authorised any more (decision 18).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function getPayment(app: App, key: PaymentKey): Promise<PaymentWithHistory> {
  const payment = await findPayment(app, key)
  if (!isPastConsentEnd(payment)) return payment
  await expirePayment(app, { id: payment.id, merchant_id: payment.merchant_id, status: payment.status })
  return findPayment(app, key)
}

/**
 * Whether a payment waits for an authorisation that can't come any more. One under a mandate waits for its bank and not
 * for a payer: its own job ends it.
 */
export function isPastConsentEnd(payment: PaymentRecord): boolean {
  if (payment.under_mandate) return false
  return payment.consent_ended && (payment.status === 'AwaitingAuthorisation' || payment.status === 'Initiated')
}

/** A page of payments, the newest first; the cursor names the last payment of the page before. */
export async function listPayments(
  app: App,
  { merchantId, query }: { merchantId: string; query: PaymentListQuery },
): Promise<{ payments: readonly PaymentRecord[]; nextCursor: string | null }> {
  const afterId = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  const rows = await listPaymentRows(app.pool, { merchantId, query, afterId })
  const { rows: payments, nextCursor } = pageOf(rows, query.limit, ({ id }) => id)
  return { payments, nextCursor }
}

/** The audit events of one payment, the oldest first. */
export async function listPaymentEvents(app: App, key: PaymentKey): Promise<readonly PaymentEventRecord[]> {
  await findPayment(app, key)
  return listPaymentEventRows(app.pool, key)
}

async function findPayment(app: App, key: PaymentKey): Promise<PaymentWithHistory> {
  if (!isUuid(key.id)) throw paymentNotFound()
  const found = await app.batches.find.run({ merchant_id: key.merchantId, id: key.id })
  if (found.id === null) throw paymentNotFound()
  return found
}

/** The same answer for an id that does not exist and for one that is somebody else's. */
export function paymentNotFound(): DomainError {
  return new DomainError('PAYMENT_NOT_FOUND', 'there is no such payment')
}
