import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DISPUTES_MAX } from '../disputes/raise-dispute.ts'
import { isUuid } from '../lib/ids.ts'
import { hasMovedMoney } from '../lib/payment-status.ts'
import { getPayment, paymentNotFound } from '../payments/get-payment.ts'
import type { StatusChangeRecord } from '../payments/record.ts'
import { findPayerPayment, listExecutedRefunds } from './payments-sql.ts'
import type { Contact, PayerPaymentRecord, PayerRefundRecord } from './record.ts'

export type PayerReceiptRecord = {
  payment: PayerPaymentRecord
  changes: readonly StatusChangeRecord[]
  refunds: readonly PayerRefundRecord[]
}

export type PayerPaymentKey = { contact: Contact; id: string }

/**
 * A payer's own payment as a receipt: with its status history and its executed refunds.
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike
 */
export async function getPayerPayment(app: App, key: PayerPaymentKey): Promise<PayerReceiptRecord> {
  const { merchant_id: merchantId } = await findOwnPayment(app, key)
  // Reading it expires a payment whose consent has ended, so the payer's view is read again after it.
  const { status_history: changes } = await getPayment(app, { merchantId, id: key.id })
  const payment = await findOwnPayment(app, key)
  return { payment, changes, refunds: await listExecutedRefunds(app.pool, { merchantId, paymentId: key.id }) }
}

/** @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike */
export async function findOwnPayment(app: App, key: PayerPaymentKey): Promise<PayerPaymentRecord> {
  return readOwn(app, app.pool, key)
}

/**
 * The same in a transaction, until whose end the payer can't be erased.
 * @throws {DomainError} PAYMENT_NOT_FOUND
 */
export async function holdOwnPayment(
  app: App,
  tx: DatabaseTransactionConnection,
  key: PayerPaymentKey,
): Promise<PayerPaymentRecord> {
  return readOwn(app, tx, key, { hold: true })
}

async function readOwn(
  { config }: App,
  db: CommonQueryMethods,
  { contact, id }: PayerPaymentKey,
  { hold = false } = {},
): Promise<PayerPaymentRecord> {
  const windowDays = config.disputeWindowDays
  const payment = isUuid(id) ? await findPayerPayment(db, { contact, windowDays, id, hold }) : null
  if (payment === null) throw paymentNotFound()
  return payment
}

const CLOSED_STATUSES: readonly (string | null)[] = [null, 'RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR']

/** Whether a dispute of this payment would be accepted now (disputes/raise-dispute.ts has the rules). */
export function isDisputable(payment: PayerPaymentRecord): boolean {
  const hasRoom = CLOSED_STATUSES.includes(payment.dispute_status) && payment.dispute_count < DISPUTES_MAX
  return hasMovedMoney(payment) && payment.is_within_window && hasRoom
}
