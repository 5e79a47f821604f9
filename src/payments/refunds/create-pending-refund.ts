import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { sha256Hex } from '../../lib/hmac.ts'
import { storedTrace } from '../../lib/trace.ts'
import type { PaymentRecord } from '../record.ts'
import { checkRefundAmount } from './refundable-amount.ts'
import { routeOf } from './refund-route.ts'
import { insertRefund } from './sql.ts'

/**
 * Creates the PENDING refund of a payment's whole remaining amount, in the transaction of the caller, who has locked the
 * payment's row. The bank is not asked here: after its commit the caller wakes the job 'resume-refunds', which does.
 * @returns the refund's id
 * @throws {DomainError} PAYMENT_NOT_SETTLED, PAYMENT_ALREADY_REFUNDED where no amount remains,
 *   REFUND_ACCOUNT_UNKNOWN
 */
export async function createPendingRefund(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'refundApis' | 'sealer'>,
  { payment, reason, disputeId }: { payment: PaymentRecord; reason: string; disputeId: string },
): Promise<string> {
  const amount = checkRefundAmount(payment, {})
  const next = 'repeat without `refund`, and have the merchant refund the payer by other means'
  const endToEndId = await routeOf(tx, app, { payment, next })
  const id = app.ids.uuid()
  const orderedBy = { dispute_id: disputeId }
  await insertRefund(tx, {
    id,
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    amount,
    reason,
    idempotencyKey: null,
    fingerprint: sha256Hex(canonicalJson({ id: payment.id, ...orderedBy })),
    rawPayload: JSON.stringify(orderedBy),
    disputeId,
    resumeSeconds: 0,
    endToEndId,
    trace: storedTrace(),
  })
  return id
}
