import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { checkExpectedValues } from '../lib/expected-values.ts'
import type { ExpectedValues } from '../lib/expected-values.ts'
import { disputeClosed, lockDispute, isResolved } from './lock-dispute.ts'
import { announceMove, moveDispute } from './move.ts'
import { orderRefund } from './order-refund.ts'
import type { DisputeRecord } from './record.ts'

export type AcceptDisputeInput = {
  merchantId: string
  id: string
  note: string | undefined
  refund: boolean
  /** Values of the dispute that the merchant saw before accepting it. */
  expected?: ExpectedValues | undefined
  actor: Actor
}

/**
 * Accepts a dispute for its merchant: it is resolved in the payer's favour without a review (decision 23). With `refund`
 * the remaining amount of the payment is refunded.
 * @throws {DomainError} DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_ESCALATED, PAYMENT_ALREADY_REFUNDED, CHANGED_MEANWHILE
 */
export async function acceptDispute(
  app: App,
  { merchantId, id, note, refund, expected, actor }: AcceptDisputeInput,
): Promise<DisputeRecord> {
  const accepted = await app.pool.transaction(async (tx) => {
    const { dispute, payment } = await lockDispute(tx, { merchantId, id })
    if (isResolved(dispute)) throw disputeClosed(dispute)
    if (dispute.status === 'ESCALATED') {
      throw new DomainError('DISPUTE_ESCALATED', 'the dispute is escalated; the platform alone resolves it now', {
        next: 'submit evidence, or wait for the resolution',
        nextStep: { operation: 'submitEvidence', params: { id: dispute.id } },
        current: { status: dispute.status },
      })
    }
    checkExpectedValues(expected, dispute)
    const refundId = await orderRefund(tx, app, { dispute, payment, isRequested: refund })
    const moved = await moveDispute(tx, app, {
      merchantId,
      id: dispute.id,
      from: dispute.status,
      on: 'acceptance',
      changes: { resolutionNote: note, resolvedBy: actor.name, refundId },
      by: { changedBy: 'MERCHANT', actor },
      note: note ?? null,
    })
    await recordAcceptance(tx, app, { dispute: moved, from: dispute.status, actor })
    return moved
  })
  announceMove(app, accepted)
  return accepted
}

/**
 * Puts the acceptance of another side's dispute into the operators' audit trail: it has no review, and without a refund it
 * gives the payer nothing. The merchant's note stays with the dispute: it may name the payer, and the trail can't be erased.
 */
async function recordAcceptance(
  tx: DatabaseTransactionConnection,
  app: App,
  { dispute, from, actor }: { dispute: DisputeRecord; from: string; actor: Actor },
): Promise<void> {
  const { id, merchant_id, payment_id, opened_by, status, refund_id } = dispute
  if (opened_by === 'MERCHANT') return
  await recordAction(app, tx, {
    actor,
    action: 'dispute.accept',
    merchantId: merchant_id,
    subjectId: id,
    before: { status: from },
    after: { status, payment_id, opened_by, refund_id },
  })
}
