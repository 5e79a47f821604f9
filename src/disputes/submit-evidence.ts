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

/** Characters of all evidence of a dispute together. */
const EVIDENCE_MAX = 100_000

/** Between what was submitted at different times. */
const SEPARATOR = '\n\n---\n\n'

/**
 * Adds a merchant's evidence to a dispute. The first of it brings an OPEN one under review; more is added to what is
 * there, and leaves the dispute where it is (decision 23).
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
    const moves = next<DisputeTransition>(DISPUTE_TRANSITIONS, dispute.status, step.on) !== undefined
    return moves ? moveDispute(tx, app, step) : changeDispute(tx, app, step)
  })
}

function joinEvidence({ merchant_evidence: before }: DisputeRecord, evidence: string): string {
  const text = before === null ? evidence : `${before}${SEPARATOR}${evidence}`
  if (text.length <= EVIDENCE_MAX) return text
  throw invalidField(
    'merchant_evidence',
    'TOO_LONG',
    `together with what is there it would be ${text.length} characters, of at most ${EVIDENCE_MAX}`,
  )
}
