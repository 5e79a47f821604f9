import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { expirePayment } from './expire-consents.ts'
import type { PaymentRecord, PaymentWithHistory } from './record.ts'

export type PaymentKey = { merchantId: string; id: string }

/**
 * Reads a payment with its history. A payment whose consent has ended is expired first, so that no caller sees one that
 * still waits although it can't be authorised any more (decision 18).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function getPayment(app: App, key: PaymentKey): Promise<PaymentWithHistory> {
  const payment = await findPayment(app, key)
  if (!isPastConsentEnd(payment)) return payment
  await expirePayment(app, { id: payment.id, merchant_id: payment.merchant_id, status: payment.status })
  return findPayment(app, key)
}

/**
 * Whether a payment still waits for its payer after the end of its consent, so that it must expire. A payment under a
 * mandate waits for its bank instead: the job `pay-mandates` ends it.
 */
export function isPastConsentEnd(payment: PaymentRecord): boolean {
  if (payment.under_mandate) return false
  return payment.consent_ended && (payment.status === 'AwaitingAuthorisation' || payment.status === 'Initiated')
}

/** Finds a payment without expiring it. */
export async function findPayment(app: App, key: PaymentKey): Promise<PaymentWithHistory> {
  if (!isUuid(key.id)) throw paymentNotFound()
  const found = await app.batches.find.run({ merchant_id: key.merchantId, id: key.id })
  // Beside the filter of the statement, which answers requests of many merchants at once and so is limited to none.
  if (found.id === null || found.merchant_id !== key.merchantId) throw paymentNotFound()
  return found
}

/** The same error for an unknown id and for another merchant's payment, so that ids can't be probed. */
export function paymentNotFound(): DomainError {
  return new DomainError('PAYMENT_NOT_FOUND', 'payment not found')
}
