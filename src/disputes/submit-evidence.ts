import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { invalidField } from '../lib/errors.ts'
import { next } from '../lib/machine.ts'
import { disputeClosed, lockDispute, isResolved } from './lock-dispute.ts'
import { changeDispute, moveDispute } from './move.ts'
import type { DisputeMove } from './move.ts'
import type { DisputeRecord } from './record.ts'
import { DISPUTE_TRANSITIONS } from './states.ts'
import type { DisputeTransition } from './states.ts'

/** Maximum of characters of all evidence of a dispute together. */
const EVIDENCE_MAX = 100_000

/** Separates evidence that was submitted at different times. */
const SEPARATOR = '\n\n---\n\n'

/**
 * Adds a merchant's evidence to a dispute. The first evidence moves an OPEN dispute to UNDER_REVIEW; later evidence is
 * appended and does not change the status (decision 23).
 * @throws {DomainError} DISPUTE_NOT_FOUND, DISPUTE_CLOSED, VALIDATION_FAILED at `merchant_evidence`
 */
export async function submitEvidence(
  app: App,
  { merchantId, id, evidence, actor }: { merchantId: string; id: string; evidence: string; actor: Actor },
): Promise<DisputeRecord> {
  return app.pool.transaction(async (tx) => {
    const { dispute } = await lockDispute(tx, { merchantId, id })
    if (isResolved(dispute)) throw disputeClosed(dispute)
    const step: DisputeMove = {
      merchantId,
      id: dispute.id,
      from: dispute.status,
      on: 'evidence',
      changes: { merchantEvidence: joinEvidence(dispute, evidence), evidenceMissing: false },
      by: { changedBy: 'MERCHANT', actor },
      note: evidence,
    }
    const isMove = next<DisputeTransition>(DISPUTE_TRANSITIONS, dispute.status, step.on) !== undefined
    return isMove ? moveDispute(tx, app, step) : changeDispute(tx, app, step)
  })
}

function joinEvidence({ merchant_evidence: before }: DisputeRecord, evidence: string): string {
  const text = before === null ? evidence : `${before}${SEPARATOR}${evidence}`
  if (text.length <= EVIDENCE_MAX) return text
  throw invalidField(
    'merchant_evidence',
    'TOO_LONG',
    `together with earlier evidence it would have ${text.length} characters; the maximum is ${EVIDENCE_MAX}`,
  )
}
