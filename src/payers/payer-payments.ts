import type { App } from '../app.ts'
import { DISPUTES_MAX, raiseDispute } from '../disputes/raise-dispute.ts'
import type { DisputeRecord } from '../disputes/record.ts'
import { isUuid } from '../lib/ids.ts'
import { paymentNotFound, readPayment } from '../payments/get-payment.ts'
import type { StatusChangeRecord } from '../payments/record.ts'
import type { DisputeReason } from '../wire/disputes.ts'
import { findPaymentOf, listPaymentsOf, listRefundsOf } from './payments-sql.ts'
import type { Contact, PayerPaymentRecord, PayerRefundRecord } from './record.ts'

/** How many payments the hub shows (contract §Payer hub). */
const LISTED = 50

export type PayerReceiptRecord = {
  payment: PayerPaymentRecord
  changes: readonly StatusChangeRecord[]
  refunds: readonly PayerRefundRecord[]
}

/** The last payments of whoever the contact is, to whichever merchants, the newest first. */
export function listPayerPayments(app: App, contact: Contact): Promise<readonly PayerPaymentRecord[]> {
  return listPaymentsOf(app.pool, { contact, windowDays: app.config.disputeWindowDays, limit: LISTED })
}

type Own = { contact: Contact; id: string }

/**
 * A payment of the contact's own, as a receipt: with what became of it, and what was given back.
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike
 */
export async function readReceipt(app: App, own: Own): Promise<PayerReceiptRecord> {
  const { merchant_id: merchantId } = await ownPayment(app, own)
  // One that waits in vain is expired by it, so the payment is read after it.
  const { status_history: changes } = await readPayment(app, { merchantId, id: own.id })
  const payment = await ownPayment(app, own)
  return { payment, changes, refunds: await listRefundsOf(app.pool, { merchantId, paymentId: own.id }) }
}

/**
 * Disputes a payment of the contact's own (decision 22).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike, PAYMENT_NOT_DISPUTABLE,
 *   DISPUTE_ALREADY_OPEN
 */
export async function disputeOwnPayment(
  app: App,
  { reason, words, ...own }: Own & { reason: DisputeReason; words: string | undefined },
): Promise<DisputeRecord> {
  const { merchant_id: merchantId } = await ownPayment(app, own)
  return raiseDispute(app, { merchantId, paymentId: own.id, openedBy: 'PAYER', reason, words, actor: null })
}

async function ownPayment(app: App, { contact, id }: Own): Promise<PayerPaymentRecord> {
  const windowDays = app.config.disputeWindowDays
  const payment = isUuid(id) ? await findPaymentOf(app.pool, { contact, windowDays, id }) : null
  if (payment === null) throw paymentNotFound()
  return payment
}

const CLOSED: readonly (string | null)[] = [null, 'RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR']

/** Whether a dispute of this payment would be taken now (disputes/raise-dispute.ts has the rules). */
export function isDisputable(payment: PayerPaymentRecord): boolean {
  const hasMovedMoney = payment.status === 'Settled' || payment.status === 'Refunded'
  const hasRoom = CLOSED.includes(payment.dispute_status) && payment.dispute_count < DISPUTES_MAX
  return hasMovedMoney && payment.is_within_window && hasRoom
}
