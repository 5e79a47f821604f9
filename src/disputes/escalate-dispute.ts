import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { checkExpectedValues } from '../lib/expected-values.ts'
import type { ExpectedValues } from '../lib/expected-values.ts'
import { disputeClosed, lockDispute, isResolved } from './lock-dispute.ts'
import { announceMove, moveDispute } from './move.ts'
import type { DisputeRecord } from './record.ts'

export type EscalateDisputeInput = {
  id: string
  reason: string
  assignee: string | undefined
  /** Values of the dispute that the operator saw before escalating it. */
  expected?: ExpectedValues | undefined
  actor: Actor
}

/**
 * Escalates a dispute: from then on only an OWNER resolves it (decision 24).
 * @throws {DomainError} DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_ESCALATED, CHANGED_MEANWHILE
 */
export async function escalateDispute(
  app: App,
  { id, reason, assignee, expected, actor }: EscalateDisputeInput,
): Promise<DisputeRecord> {
  const escalated = await app.pool.transaction(async (tx) => {
    const { dispute } = await lockDispute(tx, { merchantId: undefined, id })
    if (isResolved(dispute)) throw disputeClosed(dispute)
    if (dispute.status === 'ESCALATED') {
      const current = { status: dispute.status }
      throw new DomainError('DISPUTE_ESCALATED', 'the dispute is already escalated', { current })
    }
    checkExpectedValues(expected, dispute)
    const moved = await moveDispute(tx, app, {
      merchantId: dispute.merchant_id,
      id: dispute.id,
      from: dispute.status,
      on: 'escalation',
      changes: { escalationReason: reason, assignee },
      by: { changedBy: 'PLATFORM', actor },
      note: reason,
    })
    await recordAction(app, tx, {
      actor,
      action: 'dispute.escalate',
      merchantId: dispute.merchant_id,
      subjectId: dispute.id,
      reason,
      before: { status: dispute.status, assignee: dispute.assignee },
      after: { status: moved.status, assignee: moved.assignee },
    })
    return moved
  })
  announceMove(app, escalated)
  return escalated
}
