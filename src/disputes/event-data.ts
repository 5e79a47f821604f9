import { formatNumeric } from '../lib/money.ts'
import type { EventData } from '../webhooks/enqueue.ts'
import type { DisputeRecord } from './record.ts'

/** The `data` of a webhook about a dispute (decision 35); `sequence` counts together with the payment's own webhooks. */
export function disputeEventData(
  dispute: DisputeRecord,
  { sequence, isTest }: { sequence: number; isTest: boolean },
): EventData {
  return {
    object: 'dispute',
    id: dispute.id,
    paymentId: dispute.payment_id,
    endToEndId: dispute.end_to_end_id,
    merchantId: dispute.merchant_id,
    openedBy: dispute.opened_by,
    reason: dispute.reason,
    status: dispute.status,
    amount: { grossAmount: formatNumeric(dispute.gross_amount, dispute.currency), currency: dispute.currency },
    payerStatement: dispute.payer_statement,
    evidenceDueAt: dispute.evidence_due_at,
    openedAt: dispute.opened_at,
    resolvedAt: dispute.resolved_at,
    resolutionNote: dispute.resolution_note,
    refunded: dispute.refund_id !== null,
    sequence,
    ...(isTest ? { test: true } : {}),
  }
}
