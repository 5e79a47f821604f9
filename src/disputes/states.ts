import type { Transition } from '../lib/machine.ts'
import type { DisputeStatus } from '../wire/dispute-fields.ts'
import type { EventType } from '../wire/webhook-events.ts'

export type DisputeTrigger =
  | 'opening'
  | 'evidence'
  | 'evidence deadline'
  | 'escalation'
  | 'acceptance'
  | 'resolution for the merchant'
  | 'resolution for the payer'

/** The triggers of a dispute's moves, and the step that does not change its status. */
export type DisputeStep = DisputeTrigger | 'refund ordered'

export type DisputeTransition = Transition<DisputeStatus, DisputeTrigger> & {
  /** The webhook that announces it; null where nothing is announced. */
  webhook: EventType | null
}

/** Every allowed change of a dispute's status (contract §Dispute status; decisions 23 and 24). */
export const DISPUTE_TRANSITIONS = [
  { from: null, on: 'opening', to: 'OPEN', webhook: 'dispute.opened' },
  { from: 'OPEN', on: 'evidence', to: 'UNDER_REVIEW', webhook: null },
  { from: 'OPEN', on: 'evidence deadline', to: 'UNDER_REVIEW', webhook: null },
  { from: 'OPEN', on: 'escalation', to: 'ESCALATED', webhook: 'dispute.escalated' },
  { from: 'UNDER_REVIEW', on: 'escalation', to: 'ESCALATED', webhook: 'dispute.escalated' },
  { from: 'OPEN', on: 'acceptance', to: 'RESOLVED_PAYER_FAVOUR', webhook: 'dispute.resolved' },
  { from: 'UNDER_REVIEW', on: 'acceptance', to: 'RESOLVED_PAYER_FAVOUR', webhook: 'dispute.resolved' },
  {
    from: 'UNDER_REVIEW',
    on: 'resolution for the merchant',
    to: 'RESOLVED_MERCHANT_FAVOUR',
    webhook: 'dispute.resolved',
  },
  { from: 'UNDER_REVIEW', on: 'resolution for the payer', to: 'RESOLVED_PAYER_FAVOUR', webhook: 'dispute.resolved' },
  { from: 'ESCALATED', on: 'resolution for the merchant', to: 'RESOLVED_MERCHANT_FAVOUR', webhook: 'dispute.resolved' },
  { from: 'ESCALATED', on: 'resolution for the payer', to: 'RESOLVED_PAYER_FAVOUR', webhook: 'dispute.resolved' },
] as const satisfies readonly DisputeTransition[]
