import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { createPendingRefund } from '../payments/refunds/create-pending-refund.ts'
import { alreadyRefunded, isNothingLeft } from '../payments/refunds/refundable-amount.ts'
import type { DisputeRecord } from './record.ts'

export type RefundOrder = { dispute: DisputeRecord; payment: PaymentRecord }

/**
 * Orders the refund that a resolution brings with it, in its transaction (decision 24); undefined where it brings none.
 * @throws {DomainError} PAYMENT_ALREADY_REFUNDED
 */
export async function orderRefund(
  tx: DatabaseTransactionConnection,
  app: App,
  { dispute, payment, isAsked }: RefundOrder & { isAsked: boolean },
): Promise<string | undefined> {
  if (!isAsked) return undefined
  if (isNothingLeft(payment))
    throw alreadyRefunded('repeat without refund: what was paid has gone back, or is about to')
  // The refund that was ordered before, if any, was refused by the bank: this one follows it.
  const ids = app.ids.for('dispute refund', dispute.id, dispute.refund_id ?? '')
  return createPendingRefund(tx, { ids }, { payment, reason: `dispute ${dispute.id}`, disputeId: dispute.id })
}
