import type { App } from '../app.ts'
import { DISPUTES_MAX, raiseDispute } from '../disputes/raise-dispute.ts'
import type { DisputeRecord } from '../disputes/record.ts'
import { isUuid } from '../lib/ids.ts'
import { paymentNotFound, getPayment } from '../payments/get-payment.ts'
import type { StatusChangeRecord } from '../payments/record.ts'
import type { DisputeReason } from '../wire/disputes.ts'
import { findPayerPayment, listPayerPaymentRows, listExecutedRefunds } from './payments-sql.ts'
import type { Contact, PayerPaymentRecord, PayerRefundRecord } from './record.ts'

/** How many payments the hub shows (contract §Payer hub). */
const PAYMENTS_MAX = 50

export type PayerReceiptRecord = {
  payment: PayerPaymentRecord
  changes: readonly StatusChangeRecord[]
  refunds: readonly PayerRefundRecord[]
}

/** The last payments of whoever the contact is, to whichever merchants, the newest first. */
export function listPayerPayments(app: App, contact: Contact): Promise<readonly PayerPaymentRecord[]> {
  return listPayerPaymentRows(app.pool, { contact, windowDays: app.config.disputeWindowDays, limit: PAYMENTS_MAX })
}

type PayerPaymentKey = { contact: Contact; id: string }

/**
 * A payment of the contact's own, as a receipt: with what became of it, and what was given back.
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike
 */
export async function getPayerPayment(app: App, own: PayerPaymentKey): Promise<PayerReceiptRecord> {
  const { merchant_id: merchantId } = await findOwnPayment(app, own)
  // One that waits in vain is expired by it, so the payment is read after it.
  const { status_history: changes } = await getPayment(app, { merchantId, id: own.id })
  const payment = await findOwnPayment(app, own)
  return { payment, changes, refunds: await listExecutedRefunds(app.pool, { merchantId, paymentId: own.id }) }
}

/**
 * Disputes a payment of the contact's own (decision 22).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike, PAYMENT_NOT_DISPUTABLE,
 *   DISPUTE_ALREADY_OPEN
 */
export async function raisePayerDispute(
  app: App,
  { reason, words, ...own }: PayerPaymentKey & { reason: DisputeReason; words: string | undefined },
): Promise<DisputeRecord> {
  const { merchant_id: merchantId } = await findOwnPayment(app, own)
  return raiseDispute(app, { merchantId, paymentId: own.id, openedBy: 'PAYER', reason, words, actor: null })
}

async function findOwnPayment(app: App, { contact, id }: PayerPaymentKey): Promise<PayerPaymentRecord> {
  const windowDays = app.config.disputeWindowDays
  const payment = isUuid(id) ? await findPayerPayment(app.pool, { contact, windowDays, id }) : null
  if (payment === null) throw paymentNotFound()
  return payment
}

const CLOSED_STATUSES: readonly (string | null)[] = [null, 'RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR']

/** Whether a dispute of this payment would be taken now (disputes/raise-dispute.ts has the rules). */
export function isDisputable(payment: PayerPaymentRecord): boolean {
  const hasMovedMoney = payment.status === 'Settled' || payment.status === 'Refunded'
  const hasRoom = CLOSED_STATUSES.includes(payment.dispute_status) && payment.dispute_count < DISPUTES_MAX
  return hasMovedMoney && payment.is_within_window && hasRoom
}
