import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { checkExpectedValues } from '../lib/expected-values.ts'
import type { ExpectedValues } from '../lib/expected-values.ts'
import { roleAllows } from '../lib/permissions.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { disputeClosed, lockDispute, isResolved } from './lock-dispute.ts'
import { announceMove, moveDispute } from './move.ts'
import { orderRefundAgain, wasRefundRejected } from './order-refund-again.ts'
import { orderRefund } from './order-refund.ts'
import type { DisputeRecord } from './record.ts'

export type ResolveDisputeInput = {
  id: string
  status: 'RESOLVED_MERCHANT_FAVOUR' | 'RESOLVED_PAYER_FAVOUR'
  note: string
  refund: boolean
  /** Values of the dispute that the operator saw before resolving it. */
  expected?: ExpectedValues | undefined
  actor: Actor
  role: PlatformRole
}

/**
 * Resolves a dispute that was reviewed. It moves no money unless a refund is requested, which is ordered in the same
 * transaction (decision 24). A resolution is final, and a repeat is rejected, with one exception: where the bank refused
 * the refund, a repeat with `refund` orders the refund again and changes nothing else.
 * @throws {DomainError} DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_NOT_UNDER_REVIEW, FORBIDDEN_ROLE,
 *   PAYMENT_ALREADY_REFUNDED, CHANGED_MEANWHILE, VALIDATION_FAILED at `refund`
 */
export async function resolveDispute(app: App, input: ResolveDisputeInput): Promise<DisputeRecord> {
  const { status, note, refund, actor } = input
  if (refund && status === 'RESOLVED_MERCHANT_FAVOUR') {
    throw invalidField('refund', 'INVALID', "a dispute that is resolved in the merchant's favour refunds nothing")
  }
  const { dispute: resolved, isMoved } = await app.pool.transaction(async (tx) => {
    const { dispute, payment } = await lockDispute(tx, { merchantId: undefined, id: input.id })
    if (refund && wasRefundRejected(dispute)) {
      checkEscalatedRole(dispute, input.role)
      checkExpectedValues(input.expected, dispute)
      return { dispute: await orderRefundAgain(tx, app, { dispute, payment, note, actor }), isMoved: false }
    }
    checkResolvable(dispute, input.role)
    checkExpectedValues(input.expected, dispute)
    const refundId = await orderRefund(tx, app, { dispute, payment, isRequested: refund })
    const moved = await moveDispute(tx, app, {
      merchantId: dispute.merchant_id,
      id: dispute.id,
      from: dispute.status,
      on: status === 'RESOLVED_MERCHANT_FAVOUR' ? 'resolution for the merchant' : 'resolution for the payer',
      changes: { resolutionNote: note, resolvedBy: actor.name, refundId },
      by: { changedBy: 'PLATFORM', actor },
      note,
    })
    await recordAction(app, tx, {
      actor,
      action: 'dispute.resolve',
      merchantId: dispute.merchant_id,
      subjectId: dispute.id,
      reason: note,
      before: { status: dispute.status },
      after: { status: moved.status, refund_id: moved.refund_id },
    })
    return { dispute: moved, isMoved: true }
  })
  if (isMoved) announceMove(app, resolved)
  else app.wake.notify('resume-refunds')
  return resolved
}

function checkResolvable(dispute: DisputeRecord, role: PlatformRole): void {
  if (isResolved(dispute)) throw disputeClosed(dispute)
  if (dispute.status === 'OPEN') {
    throw new DomainError('DISPUTE_NOT_UNDER_REVIEW', 'the merchant can still answer the dispute', {
      next: 'wait for the evidence or its deadline, or escalate the dispute',
      nextStep: { operation: 'escalateDispute', params: { id: dispute.id } },
      current: { status: dispute.status },
    })
  }
  checkEscalatedRole(dispute, role)
}

/** Only an OWNER changes a dispute that was escalated, also after it is resolved. */
function checkEscalatedRole({ escalation_reason: reason }: DisputeRecord, role: PlatformRole): void {
  if (reason === null || roleAllows(role, 'administer platform')) return
  throw new DomainError('FORBIDDEN_ROLE', 'the dispute was escalated; only an OWNER can resolve it')
}
