import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { createPendingRefund } from '../payments/refunds/create-pending-refund.ts'
import { alreadyRefunded, isFullyRefunded } from '../payments/refunds/refundable-amount.ts'
import type { DisputeRecord } from './record.ts'

export type RefundOrder = { dispute: DisputeRecord; payment: PaymentRecord }

/**
 * Orders the refund that was requested with a resolution, in its transaction (decision 24); undefined where none was.
 * @throws {DomainError} PAYMENT_ALREADY_REFUNDED, REFUND_ACCOUNT_UNKNOWN
 */
export async function orderRefund(
  tx: DatabaseTransactionConnection,
  app: App,
  { dispute, payment, isRequested }: RefundOrder & { isRequested: boolean },
): Promise<string | undefined> {
  if (!isRequested) return undefined
  if (isFullyRefunded(payment))
    throw alreadyRefunded('repeat without refund: the payment is refunded, or a refund is in progress')
  // An earlier refund, if any, was refused by the bank; its id makes this one's ids different.
  const ids = app.ids.for('dispute refund', dispute.id, dispute.refund_id ?? '')
  return createPendingRefund(
    tx,
    { ids, refundApis: app.refundApis, sealer: app.sealer },
    { payment, reason: `dispute ${dispute.id}`, disputeId: dispute.id },
  )
}
