import { DISPUTE_TRANSITIONS } from '../disputes/states.ts'
import type { DisputeTrigger } from '../disputes/states.ts'
import { amountWithCurrency } from '../lib/money.ts'
import type { DisputeStatus } from '../wire/dispute-fields.ts'
import type { DisputeFacts } from './facts-sql.ts'
import { forMerchant, forOperator } from './steps.ts'
import type { Action, Command, Move, SubjectKind } from './steps.ts'
import { isZero, momentText, openRefundsText, untilText } from './text.ts'
import type { Viewer } from './viewer.ts'

const STANDING: Readonly<Record<DisputeStatus, (dispute: DisputeFacts, viewer: Viewer) => string>> = {
  OPEN: (it) =>
    `waits for the merchant's evidence until ${untilText(it.now, it.evidence_due_at)}; without it the dispute goes to review`,
  UNDER_REVIEW: (it) =>
    `waits for an operator to resolve it; the merchant has submitted ${it.has_evidence ? 'evidence' : 'no evidence in time'}`,
  ESCALATED: ({ assignee }, { side }) =>
    `escalated: waits for an OWNER of the platform to resolve it${side === 'operator' && assignee !== null ? `; assigned to ${assignee}` : ''}`,
  RESOLVED_MERCHANT_FAVOUR: (it) => `resolved in the merchant's favour${resolvedText(it)}`,
  RESOLVED_PAYER_FAVOUR: (it) => `resolved in the payer's favour${resolvedText(it)}; ${refundText(it)}`,
}

export const DISPUTE: SubjectKind<DisputeTrigger, DisputeFacts> = {
  title: ({ payment_id: paymentId, gross_amount, currency, reason }) =>
    `dispute of the payment ${paymentId}, ${amountWithCurrency(gross_amount, currency)}: ${reason}`,
  standing: (dispute, viewer) => STANDING[dispute.status](dispute, viewer),
  table: () => DISPUTE_TRANSITIONS,
  moves: {
    opening: { by: 'the payer, the merchant or an operator' },
    evidence: { by: 'the merchant, by submitting evidence', how: ({ id }) => [evidence(id)] },
    'evidence deadline': { by: 'the service, at the evidence deadline', at: (it) => it.evidence_due_at },
    escalation: { by: 'an operator', how: ({ id }) => [forOperator(`svc disputes escalate ${id} --reason "..."`)] },
    acceptance: {
      by: 'the merchant, by accepting the dispute',
      how: ({ id }) => [forMerchant('refund payments', `svc disputes accept ${id}`)],
    },
    'resolution for the merchant': resolution('merchant'),
    'resolution for the payer': resolution('payer'),
  },
  also: actions,
}

/** After a refund that the bank has refused, it is ordered again, or the merchant gives the money back by itself. */
function actions(dispute: DisputeFacts): Action[] {
  const { id, status, payment_id: paymentId } = dispute
  if (dispute.refund_status === 'FAILED' && !isZero(dispute.refundable_amount)) {
    const { by, how } = resolutionBy(dispute.escalation_reason !== null, `refund ${id}`)
    const refund = forMerchant('refund payments', `svc payments refund ${paymentId}`)
    return [
      { what: 'order the refund again after the bank rejected it', by, how },
      { what: 'refund the payment outside the dispute', by: 'the merchant', how: [refund] },
    ]
  }
  if (status !== 'UNDER_REVIEW' && status !== 'ESCALATED') return []
  const what = dispute.has_evidence ? 'add more evidence' : 'submit evidence after the deadline'
  return [{ what, by: 'the merchant', how: [evidence(id)] }]
}

function resolution(favour: 'merchant' | 'payer'): Move<DisputeFacts> {
  return {
    by: ({ status }) => resolutionBy(status === 'ESCALATED', '').by,
    how: ({ id, status }) => resolutionBy(status === 'ESCALATED', `resolve ${id} --favour ${favour}`).how,
  }
}

/** Only an OWNER resolves an escalated dispute (decision 24). */
function resolutionBy(isOwners: boolean, words: string): { by: string; how: Command[] } {
  const type = `svc disputes ${words} --note "..."`
  return isOwners
    ? { by: 'an OWNER of the platform', how: [forOperator(type, 'administer platform')] }
    : { by: 'an operator', how: [forOperator(type)] }
}

function evidence(id: string): Command {
  return forMerchant('refund payments', `svc disputes evidence ${id} --file <path>`)
}

function resolvedText({ resolved_at: at }: DisputeFacts): string {
  return at === null ? '' : ` at ${momentText(at)}`
}

function refundText({
  refund_status: status,
  refund_amount,
  currency,
  now,
  next_refund_at: next,
}: DisputeFacts): string {
  if (status === null || refund_amount === null) return 'no refund was ordered with it'
  const amount = amountWithCurrency(refund_amount, currency)
  if (status === 'EXECUTED') return `${amount} went back to the payer`
  if (status === 'FAILED')
    return `the bank rejected the refund of ${amount} that was ordered with it, and it can be ordered again`
  return openRefundsText(`the refund of ${amount}`, { now, next })
}
