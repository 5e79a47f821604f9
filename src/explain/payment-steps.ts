import { DISPUTES_MAX } from '../disputes/raise-dispute.ts'
import { remainingAmount } from '../payments/refunds/refundable-amount.ts'
import { PAYMENT_TRANSITIONS, isPossibleMove } from '../payments/states.ts'
import type { PaymentTransition, PaymentTrigger } from '../payments/states.ts'
import type { NextStep, OtherStep } from '../wire/explain.ts'
import { commandFor, nextSteps } from './next-steps.ts'
import type { StepRules } from './next-steps.ts'
import type { ToldDispute, ToldPayment, ToldRefund } from './record.ts'
import { isNothing, untilText } from './words.ts'
import type { Viewer } from './viewer.ts'

export type PaymentFacts = {
  payment: ToldPayment
  /** The newest first. */
  refunds: readonly ToldRefund[]
  /** The newest first. */
  disputes: readonly ToldDispute[]
}

const BEGINNING = { by: 'the merchant, who creates it' }

const RULES: StepRules<PaymentTrigger, PaymentFacts> = {
  creation: BEGINNING,
  'creation at a remote bank': BEGINNING,
  staging: { by: 'the service, which asks the bank until it answers' },
  authorisation: { by: "the payer, on the bank's page" },
  denial: { by: 'the payer or the bank' },
  cancellation: {
    by: 'the merchant, or the payer on our page',
    how: ({ payment }) => [{ side: 'merchant', needs: 'create payments', type: `svc payments cancel ${payment.id}` }],
  },
  expiry: { by: "the service, at the consent's end", at: ({ payment }) => payment.expires_at },
  settlement: { by: 'the service, when the bank executes it', at: ({ payment }) => payment.settle_at },
  'execution refused': { by: 'the bank, when the service asks it to execute', at: ({ payment }) => payment.settle_at },
  refund: {
    by: 'the merchant, when all of it is refunded; an operator, by resolving a dispute',
    at: ({ payment, refunds }) =>
      reservesTheRest(payment) ? (refunds.find(({ status }) => status === 'PENDING')?.resume_at ?? null) : null,
    how: ({ payment }) =>
      reservesTheRest(payment)
        ? []
        : [{ side: 'merchant', needs: 'refund payments', type: `svc payments refund ${payment.id}` }],
  },
  'creation under a mandate': BEGINNING,
  'mandate staging': { by: 'the service, which asks the bank until it answers' },
  'mandate authorisation': { by: 'the bank, under the mandate that the payer authorised before' },
  'mandate refusal': { by: 'the bank, or the service once the mandate has ended or the bank was silent for too long' },
}

const TABLE: readonly PaymentTransition[] = PAYMENT_TRANSITIONS

/** What can become of a payment. */
export function paymentSteps(facts: PaymentFacts, viewer: Viewer): NextStep[] {
  const table = TABLE.filter(({ on }) => isPossibleMove({ underMandate: facts.payment.under_mandate }, on))
  return nextSteps({ table, rules: RULES, from: facts.payment.status, facts, viewer })
}

/** What can be done about a payment without changing its status. */
export function otherPaymentSteps({ payment, disputes }: PaymentFacts, viewer: Viewer): OtherStep[] {
  const wasPaid = payment.status === 'Settled' || payment.status === 'Refunded'
  const open = disputes.find(({ resolved_at }) => resolved_at === null)
  if (open !== undefined)
    return [{ what: 'look at its dispute', by: 'anyone who sees it', how: `svc explain ${open.id}` }]
  if (!wasPaid || payment.disputable_until <= payment.now || disputes.length >= DISPUTES_MAX) return []
  return [
    {
      what: `dispute it, until ${untilText(payment.now, payment.disputable_until)}`,
      by: 'the payer, the merchant or an operator',
      how: commandFor(
        [
          {
            side: 'merchant',
            needs: 'refund payments',
            type: `svc payments dispute ${payment.id} --reason OTHER --statement "..."`,
          },
          {
            side: 'operator',
            needs: 'operate merchants',
            type: `svc disputes raise ${payment.id} --reason OTHER --statement "..."`,
          },
        ],
        viewer,
      ),
    },
  ]
}

/** Whether refunds that the bank has not answered yet hold all that is left. */
function reservesTheRest(payment: ToldPayment): boolean {
  return !isNothing(payment.refund_reserved_amount) && isNothing(remainingAmount(payment))
}
