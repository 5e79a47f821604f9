import type { App } from '../app.ts'
import { raiseDispute } from '../disputes/raise-dispute.ts'
import type { DisputeRecord } from '../disputes/record.ts'
import type { DisputeReason } from '../wire/dispute-fields.ts'
import { findOwnPayment } from './get-payer-payment.ts'
import type { PayerPaymentKey } from './get-payer-payment.ts'

/**
 * Disputes a payer's own payment (decision 22).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike, PAYMENT_NOT_DISPUTABLE,
 *   DISPUTE_ALREADY_OPEN
 */
export async function raisePayerDispute(
  app: App,
  { reason, statement, ...key }: PayerPaymentKey & { reason: DisputeReason; statement: string | undefined },
): Promise<DisputeRecord> {
  const { merchant_id: merchantId } = await findOwnPayment(app, key)
  return raiseDispute(app, { merchantId, paymentId: key.id, openedBy: 'PAYER', reason, statement, actor: null })
}
