import type { DisputeRecordWithEvents } from '../../disputes/get-dispute.ts'
import type { DisputeEventRecord, DisputeRecord, DisputeSummaryRecord } from '../../disputes/record.ts'
import { formatNumeric } from '../../lib/money.ts'
import type {
  AdminDispute,
  AdminDisputeSummary,
  AdminDisputeWithEvents,
  Dispute,
  DisputeEvent,
  DisputeSummary,
  DisputeWithEvents,
} from '../../wire/dispute-fields.ts'

/** A dispute in its merchant's list. */
export function presentSummary(dispute: DisputeSummaryRecord): DisputeSummary {
  return {
    id: dispute.id,
    payment_id: dispute.payment_id,
    merchant_id: dispute.merchant_id,
    end_to_end_id: dispute.end_to_end_id,
    opened_by: dispute.opened_by,
    reason: dispute.reason,
    status: dispute.status,
    gross_amount: formatNumeric(dispute.gross_amount, dispute.currency),
    refundable_amount: formatNumeric(dispute.refundable_amount, dispute.currency),
    currency: dispute.currency,
    payer_statement: dispute.payer_statement,
    statement: dispute.statement,
    has_evidence: dispute.has_evidence,
    evidence_due_at: dispute.evidence_due_at,
    evidence_missing: dispute.evidence_missing,
    resolution_note: dispute.resolution_note,
    refund: presentRefund(dispute),
    opened_at: dispute.opened_at,
    updated_at: dispute.updated_at,
    resolved_at: dispute.resolved_at,
  }
}

type Refund = Pick<DisputeSummaryRecord, 'refund_id' | 'refund_status' | 'refund_amount' | 'currency'>

function presentRefund({ refund_id, refund_status, refund_amount, currency }: Refund): Dispute['refund'] {
  if (refund_id === null || refund_status === null || refund_amount === null) return null
  return { refund_id, refund_status, amount: formatNumeric(refund_amount, currency) }
}

/** A dispute as its merchant sees it. */
export function presentDispute(dispute: DisputeRecord): Dispute {
  return { ...presentSummary(dispute), merchant_evidence: dispute.merchant_evidence }
}

/** A dispute in the operators' list. */
export function presentAdminSummary(dispute: DisputeSummaryRecord): AdminDisputeSummary {
  const { trading_name, realm_slug, due_at, assignee, escalation_reason, resolved_by } = dispute
  return { ...presentSummary(dispute), trading_name, realm_slug, due_at, assignee, escalation_reason, resolved_by }
}

/** A dispute as operators see it. */
export function presentAdminDispute(dispute: DisputeRecord): AdminDispute {
  return { ...presentAdminSummary(dispute), merchant_evidence: dispute.merchant_evidence }
}

/** With its events as its merchant sees them: without operators' names and their reasons for escalating. */
export function presentWithEvents(dispute: DisputeRecordWithEvents): DisputeWithEvents {
  return { ...presentDispute(dispute), events: dispute.events.map((event) => presentToMerchant(event)) }
}

/** With its events as operators see them. */
export function presentAdminWithEvents(dispute: DisputeRecordWithEvents): AdminDisputeWithEvents {
  return { ...presentAdminDispute(dispute), events: dispute.events.map((event) => presentEvent(event)) }
}

function presentToMerchant(event: DisputeEventRecord): DisputeEvent {
  const presented = presentEvent(event)
  if (event.changed_by !== 'PLATFORM') return presented
  return { ...presented, actor: null, note: event.event === 'escalation' ? null : presented.note }
}

function presentEvent({ actor_id: _id, actor_name: actor, ...event }: DisputeEventRecord): DisputeEvent {
  return { ...event, actor }
}
