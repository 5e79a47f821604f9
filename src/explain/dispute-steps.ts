import { DISPUTE_TRANSITIONS } from '../disputes/states.ts'
import type { DisputeTransition, DisputeTrigger } from '../disputes/states.ts'
import type { NextStep, OtherStep } from '../wire/explain.ts'
import { commandFor, nextSteps } from './next-steps.ts'
import type { Command, StepRule, StepRules } from './next-steps.ts'
import { isNothingLeft } from '../payments/refunds/refundable-amount.ts'
import type { ToldDispute, ToldRefund } from './record.ts'
import type { Viewer } from './viewer.ts'

const RULES: StepRules<DisputeTrigger, ToldDispute> = {
  opening: { by: 'the payer, the merchant or an operator' },
  evidence: { by: 'the merchant, by submitting evidence', how: (it) => [evidence(it)] },
  'evidence deadline': { by: 'the service, when the time for evidence is over', at: (it) => it.evidence_due_at },
  escalation: {
    by: 'an operator',
    how: ({ id }) => [operators('operate merchants', `svc disputes escalate ${id} --reason "..."`)],
  },
  acceptance: {
    by: 'the merchant, by giving in',
    how: ({ id }) => [{ side: 'merchant', needs: 'refund payments', type: `svc portal disputes accept ${id}` }],
  },
  'resolution for the merchant': resolution('merchant'),
  'resolution for the payer': resolution('payer'),
}

const TABLE: readonly DisputeTransition[] = DISPUTE_TRANSITIONS

/** What can become of a dispute. */
export function disputeSteps(dispute: ToldDispute, viewer: Viewer): NextStep[] {
  return nextSteps({ table: TABLE, rules: RULES, from: dispute.status, facts: dispute, viewer })
}

/** What can be done about a dispute that stays in its status. */
export function otherDisputeSteps(
  { dispute, refund }: { dispute: ToldDispute; refund: ToldRefund | null },
  viewer: Viewer,
): OtherStep[] {
  if (refund?.status === 'FAILED' && !isNothingLeft(dispute)) return refundSteps(dispute, viewer)
  if (dispute.status !== 'UNDER_REVIEW' && dispute.status !== 'ESCALATED') return []
  const what = dispute.has_evidence ? 'add more evidence' : 'submit evidence, late as it is'
  return [{ what, by: 'the merchant', how: commandFor([evidence(dispute)], viewer) }]
}

/** After a refund that the bank has refused: it is ordered again, or the merchant gives the money back by itself. */
function refundSteps({ id, payment_id: paymentId, was_escalated: isOwners }: ToldDispute, viewer: Viewer): OtherStep[] {
  const again = operators(
    isOwners ? 'administer platform' : 'operate merchants',
    `svc disputes resolve ${id} --favour payer --refund --note "..."`,
  )
  const own: Command = { side: 'merchant', needs: 'refund payments', type: `svc payments refund ${paymentId}` }
  return [
    {
      what: 'order the refund again, which the bank refused',
      by: isOwners ? 'an OWNER of the platform' : 'an operator',
      how: commandFor([again], viewer),
    },
    { what: 'refund the payment beside the dispute', by: 'the merchant', how: commandFor([own], viewer) },
  ]
}

/** What is escalated an OWNER alone resolves (decision 24). */
function resolution(favour: 'merchant' | 'payer'): StepRule<ToldDispute> {
  return {
    by: ({ status }) => (status === 'ESCALATED' ? 'an OWNER of the platform' : 'an operator'),
    how: ({ id, status }) => [
      operators(
        status === 'ESCALATED' ? 'administer platform' : 'operate merchants',
        `svc disputes resolve ${id} --favour ${favour} --note "..."`,
      ),
    ],
  }
}

function operators(needs: Command['needs'], type: string): Command {
  return { side: 'operator', needs, type }
}

function evidence({ id }: ToldDispute): Command {
  return { side: 'merchant', needs: 'refund payments', type: `svc portal disputes evidence ${id} --file <path>` }
}
