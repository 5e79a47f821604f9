import { stringify } from 'yaml'
import type { DisputeStatus } from '../../src/wire/disputes.ts'
import type { PaymentStatus } from '../../src/wire/payments.ts'
import type { EventType } from '../../src/wire/webhook-events.ts'

/** The steps that end in a webhook event, and from where on they go on with a payment that is there already. */
export type Trigger = {
  /** What happens, in a sentence. */
  story: string
  /** What can be set, with what it is where nothing is said. */
  vars: Readonly<Record<string, string>>
  steps: readonly string[]
  /** How many of the steps a payment has behind it, by its status; none where the event can't happen any more. */
  from: Readonly<Partial<Record<PaymentStatus, number>>>
  /** The same for a payment with a dispute that is not decided, by the dispute's status; undefined where that changes nothing. */
  fromDisputed?: Readonly<Partial<Record<DisputeStatus, number>>>
  /** Whether it is about a mandate. */
  ofMandate?: boolean
  /** Why a payment that is there can't get it, where it is not its status. */
  never?: string
}

const PAY = 'pay: { as: p1, amount: $amount, currency: $currency }'
const APPROVE = 'bank: { approve: $p1 }                     # the payer, at the bank'
const SETTLED = 'await: { payment: $p1, status: Settled }'
const DISPUTE = 'dispute: { as: d1, payment: $p1, by: payer, reason: $reason }'

const MONEY = { amount: '50.00', currency: 'GBP' }
const DISPUTED = { ...MONEY, reason: 'ITEM_NOT_RECEIVED', note: 'tried with svc trigger' }
const UP_TO_SETTLED = { AwaitingAuthorisation: 1, Authorised: 2, Settled: 3 } as const
/** A payment whose money has gone back may be disputed all the same (disputes/raise-dispute.ts). */
const UP_TO_REFUNDED = { ...UP_TO_SETTLED, Refunded: 3 } as const

export const TRIGGERS: Readonly<Record<EventType, Trigger>> = {
  'payment.initiated': {
    story: 'a payment is created',
    vars: MONEY,
    steps: [PAY],
    from: {},
    never: 'it is told once, when a payment is created',
  },
  'payment.authorized': {
    story: 'the payer approves a payment at the bank',
    vars: MONEY,
    steps: [PAY, APPROVE, 'await: { payment: $p1, status: Authorised }'],
    from: { AwaitingAuthorisation: 1 },
  },
  'payment.settled': {
    story: 'the money of a payment has moved',
    vars: MONEY,
    steps: [PAY, APPROVE, SETTLED],
    from: { AwaitingAuthorisation: 1, Authorised: 2 },
  },
  'payment.failed': {
    story: 'the payer cancels at the bank',
    vars: MONEY,
    steps: [
      PAY,
      'bank: { cancel: $p1 }                      # the payer says no',
      'await: { payment: $p1, status: Failed }',
    ],
    from: { AwaitingAuthorisation: 1 },
  },
  'payment.refunded': {
    story: 'all that is left of a payment is refunded',
    vars: MONEY,
    steps: [PAY, APPROVE, SETTLED, 'payments.refund: { payment: $p1 }'],
    from: UP_TO_SETTLED,
  },
  'payment.partially_refunded': {
    story: 'a part of a payment is refunded',
    vars: { ...MONEY, part: '1.00' },
    steps: [PAY, APPROVE, SETTLED, 'payments.refund: { payment: $p1, amount: $part }'],
    from: UP_TO_SETTLED,
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
    from: {},
    never: 'whether its refunds fail is decided when a payment is created, by its scenario refund-fails',
  },
  'dispute.opened': {
    story: 'the payer disputes a payment',
    vars: { ...MONEY, reason: DISPUTED.reason },
    steps: [PAY, APPROVE, SETTLED, DISPUTE],
    from: UP_TO_REFUNDED,
    fromDisputed: {},
  },
  'dispute.escalated': {
    story: "an operator hands a dispute up to the platform's owner",
    vars: DISPUTED,
    steps: [PAY, APPROVE, SETTLED, DISPUTE, 'disputes.escalate: { dispute: $d1, reason: $note }'],
    from: UP_TO_REFUNDED,
    fromDisputed: { OPEN: 4, UNDER_REVIEW: 4 },
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
    from: UP_TO_REFUNDED,
    fromDisputed: { OPEN: 4, UNDER_REVIEW: 5, ESCALATED: 5 },
  },
  'consent.revoked': {
    story: 'the merchant ends a mandate',
    vars: { ...MONEY, most: '100.00' },
    steps: [
      'pay: { as: p1, amount: $amount, currency: $currency, mandate: { max_amount_per_payment: $most, periodic_limits: [{ period: MONTH, max_amount: $most }] } }',
      APPROVE,
      'await: { consent: $p1, status: AUTHORISED }',
      'mandates.end: { consent: $p1 }',
    ],
    from: { AwaitingAuthorisation: 1, Authorised: 2, Settled: 2, Refunded: 2 },
    ofMandate: true,
  },
}

/** The steps as a scenario, to read, to edit and to play. */
export function triggerText(event: EventType, vars: Readonly<Record<string, string>>): string {
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
