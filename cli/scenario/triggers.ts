import { stringify } from 'yaml'
import type { EventType } from '../../src/wire/webhook-events.ts'

/** The steps that end in a webhook event. */
export type Trigger = {
  /** What happens, in a sentence. */
  story: string
  /** What can be set, with what it is where nothing is said. */
  vars: Readonly<Record<string, string>>
  steps: readonly string[]
}

const PAY = 'pay: { as: p1, amount: $amount, currency: $currency }'
const APPROVE = 'bank: { approve: $p1 }                     # the payer, at the bank'
const SETTLED = 'await: { payment: $p1, status: Settled }'
const DISPUTE = 'dispute: { as: d1, payment: $p1, by: payer, reason: $reason }'

const MONEY = { amount: '50.00', currency: 'GBP' }
const DISPUTED = { ...MONEY, reason: 'ITEM_NOT_RECEIVED', note: 'tried with svc trigger' }
/** Payouts follow from a settlement, which closes only as time passes for the whole merchant. */
export type TriggerEvent = Exclude<EventType, `payout.${string}`>

export const TRIGGERS: Readonly<Record<TriggerEvent, Trigger>> = {
  'payment.initiated': {
    story: 'a payment is created',
    vars: MONEY,
    steps: [PAY],
  },
  'payment.authorized': {
    story: 'the payer approves a payment at the bank',
    vars: MONEY,
    steps: [PAY, APPROVE, 'await: { payment: $p1, status: Authorised }'],
  },
  'payment.settled': {
    story: 'the money of a payment has moved',
    vars: MONEY,
    steps: [PAY, APPROVE, SETTLED],
  },
  'payment.failed': {
    story: 'the payer cancels at the bank',
    vars: MONEY,
    steps: [
      PAY,
      'bank: { cancel: $p1 }                      # the payer says no',
      'await: { payment: $p1, status: Failed }',
    ],
  },
  'payment.refunded': {
    story: 'all that is left of a payment is refunded',
    vars: MONEY,
    steps: [PAY, APPROVE, SETTLED, 'payments.refund: { payment: $p1 }'],
  },
  'payment.partially_refunded': {
    story: 'a part of a payment is refunded',
    vars: { ...MONEY, part: '1.00' },
    steps: [PAY, APPROVE, SETTLED, 'payments.refund: { payment: $p1, amount: $part }'],
  },
  'refund.failed': {
    story: 'the bank refuses a refund',
    vars: MONEY,
    steps: [
      'pay: { as: p1, amount: $amount, currency: $currency, scenario: refund-fails }',
      APPROVE,
      SETTLED,
      'payments.refund: { payment: $p1 }\n    expect_error: { http: 409, code: REFUND_REFUSED }',
    ],
  },
  'dispute.opened': {
    story: 'the payer disputes a payment',
    vars: { ...MONEY, reason: DISPUTED.reason },
    steps: [PAY, APPROVE, SETTLED, DISPUTE],
  },
  'dispute.escalated': {
    story: "an operator hands a dispute up to the platform's owner",
    vars: DISPUTED,
    steps: [PAY, APPROVE, SETTLED, DISPUTE, 'disputes.escalate: { dispute: $d1, reason: $note }'],
  },
  'dispute.resolved': {
    story: 'an operator decides a dispute',
    vars: { ...DISPUTED, favour: 'merchant' },
    steps: [
      PAY,
      APPROVE,
      SETTLED,
      DISPUTE,
      'disputes.evidence: { dispute: $d1, text: $note }        # the merchant answers first',
      'disputes.resolve: { dispute: $d1, favour: $favour, note: $note }',
    ],
  },
  'consent.revoked': {
    story: 'the merchant ends a mandate',
    vars: { ...MONEY, most: '100.00' },
    steps: [
      'pay: { as: p1, amount: $amount, currency: $currency, mandate: { max_amount_per_payment: $most, periodic_limits: [{ period: MONTH, max_amount: $most }] } }',
      APPROVE,
      'await: { consent: $p1, status: AUTHORISED }',
      'payments.mandates.end: { consent: $p1 }',
    ],
  },
}

/** The events that can be triggered. */
export const TRIGGER_EVENTS = Object.freeze(Object.keys(TRIGGERS)) as readonly TriggerEvent[]

/** The steps as a scenario, to read, to edit and to play. */
export function triggerText(event: TriggerEvent, vars: Readonly<Record<string, string>>): string {
  const { story, steps } = TRIGGERS[event]
  const declared = Object.entries(vars).map(([name, value]) => `  ${name}: ${stringify(value, QUOTED).trim()}`)
  return [
    `# ${event}: ${story}.`,
    'scenario: v1',
    `name: ${event}`,
    'vars:',
    ...declared,
    'steps:',
    ...steps.map((step) => `  - ${step}`),
    '',
  ].join('\n')
}

/** Texts in quotes: amounts would be numbers otherwise. */
const QUOTED = { defaultStringType: 'QUOTE_DOUBLE', lineWidth: 0 } as const
