import type { DisputeStatus } from '../wire/disputes.ts'
import type { ToldDispute, ToldRefund } from './record.ts'
import { momentText, moneyText, untilText } from './words.ts'
import type { Viewer } from './viewer.ts'

type DisputeFacts = { dispute: ToldDispute; refund: ToldRefund | null; viewer: Viewer }

const STANDING: Readonly<Record<DisputeStatus, (facts: DisputeFacts) => string>> = {
  OPEN: ({ dispute }) =>
    `waits for the merchant's evidence until ${untilText(dispute.now, dispute.evidence_due_at)}; without it the dispute is reviewed as it is`,
  UNDER_REVIEW: ({ dispute }) =>
    `waits for an operator to resolve it; the merchant has submitted ${dispute.has_evidence ? 'evidence' : 'no evidence in time'}`,
  ESCALATED: ({ dispute, viewer }) =>
    `escalated: waits for an OWNER of the platform to resolve it${viewer.side === 'operator' && dispute.assignee !== null ? `; ${dispute.assignee} looks at it` : ''}`,
  RESOLVED_MERCHANT_FAVOUR: ({ dispute }) => `resolved in the merchant's favour${atText(dispute)}`,
  RESOLVED_PAYER_FAVOUR: (facts) => `resolved in the payer's favour${atText(facts.dispute)}${refundText(facts)}`,
}

/** Why a dispute stands where it stands. */
export function disputeStanding(facts: DisputeFacts): string {
  return `${STANDING[facts.dispute.status](facts)}.`
}

function atText({ resolved_at }: ToldDispute): string {
  return resolved_at === null ? '' : ` at ${momentText(resolved_at)}`
}

function refundText({ dispute, refund }: DisputeFacts): string {
  if (refund === null) return '; no refund was ordered with it'
  const amount = moneyText(refund.amount, dispute.currency)
  if (refund.status === 'EXECUTED') return `; ${amount} went back to the payer`
  if (refund.status === 'FAILED')
    return `; the bank refused the refund of ${amount} that was ordered with it, and it can be ordered again`
  return `; the refund of ${amount} is not done yet: the service asks the bank until it answers`
}
