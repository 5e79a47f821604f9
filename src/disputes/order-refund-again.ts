import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { isFullyRefunded } from '../payments/refunds/refundable-amount.ts'
import { disputeClosed } from './lock-dispute.ts'
import { changeDispute } from './move.ts'
import { orderRefund } from './order-refund.ts'
import type { RefundOrder } from './order-refund.ts'
import type { DisputeRecord } from './record.ts'

/** Whether the bank refused the refund of the resolution: only that refund can still be ordered again. */
export function wasRefundRejected({ status, refund_status }: Pick<DisputeRecord, 'status' | 'refund_status'>): boolean {
  return status === 'RESOLVED_PAYER_FAVOUR' && refund_status === 'FAILED'
}

/**
 * Orders a refund again that the bank refused. The resolution keeps its note, author and time; new are a refund of the
 * remaining amount, and an event with the operator and the reason. The only webhook is the refund's own.
 * @throws {DomainError} DISPUTE_CLOSED where no amount remains
 */
export async function orderRefundAgain(
  tx: DatabaseTransactionConnection,
  app: App,
  { dispute, payment, note, actor }: RefundOrder & { note: string; actor: Actor },
): Promise<DisputeRecord> {
  if (isFullyRefunded(payment)) throw disputeClosed(dispute, 'nothing is left of its payment to refund')
  const refundId = await orderRefund(tx, app, { dispute, payment, isRequested: true })
  const changed = await changeDispute(tx, app, {
    merchantId: dispute.merchant_id,
    id: dispute.id,
    from: dispute.status,
    on: 'refund ordered',
    changes: { refundId },
    by: { changedBy: 'PLATFORM', actor },
    note,
  })
  await recordAction(app, tx, {
    actor,
    action: 'dispute.resolve',
    merchantId: dispute.merchant_id,
    subjectId: dispute.id,
    reason: note,
    before: { status: dispute.status, refund_id: dispute.refund_id, refund_status: dispute.refund_status },
    after: { status: changed.status, refund_id: changed.refund_id },
  })
  return changed
}
