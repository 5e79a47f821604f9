import { z } from 'zod'
import {
  AwaitAccount,
  AwaitOrder,
  CustomerStep,
  ExpectAccount,
  ExpectBooks,
  ExpectOrder,
  OrderStep,
} from './language/customers.ts'
import { BankFault } from './language/bank.ts'
import { BANK_VERBS } from './language/bank-verbs.ts'
import { CheckoutStep, PayerContactStep, PaymentCancel, Sca } from './language/checkout.ts'
import {
  Accept,
  AwaitDispute,
  AwaitDisputeOf,
  Escalate,
  Evidence,
  ExpectDispute,
  RaiseDispute,
  Resolve,
} from './language/disputes.ts'
import { AwaitConsent, ConsentCancel, ConsentEnd, ExpectConsent } from './language/mandates.ts'
import {
  AwaitOffer,
  AwaitRecurring,
  AwaitRequest,
  ExpectOffer,
  ExpectRecurring,
  ExpectRequest,
} from './language/instructions.ts'
import { ExpectAudit, ExpectMerchant, Hold, Kyb, merchantFields } from './language/merchant.ts'
import { Advance, CallerReference, ExpectedStatus, HttpStatus, Matcher, Name, Text } from './language/parts.ts'
import {
  ExpectReceipt,
  PayerConsents,
  PayerDisputeStep,
  PayerLink,
  PayerPayments,
  PayerSignOut,
  PayerVerify,
} from './language/payers.ts'
import { AwaitPayment, Bank, ExpectPayment, Pay, RefundStep } from './language/payments.ts'
import {
  AwaitWebhook,
  Endpoint,
  ExpectWebhook,
  ReceiverBehaviour,
  ReplayMany,
  ReplayOne,
  RotateSecret,
  Webhooks,
} from './language/webhooks.ts'
import { matcherProblems } from './matchers.ts'

/*
 * The language of scenario files, as schemas: one for each verb. The runner, `svc sandbox scenarios validate` and the
 * published JSON Schema read the same declarations.
 */

export const Given = z.strictObject({
  /** What not every service has; where it is missing, the case is skipped. */
  needs: z.enum(['vrp_caps']).optional(),
  merchant: z.strictObject(merchantFields).optional(),
  receiver: z.union([ReceiverBehaviour, z.literal(false)]).optional(),
  bank: BankFault.optional(),
})
export type Given = z.infer<typeof Given>

export const Clock = z.strictObject({ advance: Advance })

const ApiPath = z
  .string()
  .regex(/^[/$]/, 'must be a path below /api/v1, such as "/payments", or one that begins with /open-banking/')
  .optional()
export const Http = z.strictObject({
  get: ApiPath,
  post: ApiPath,
  put: ApiPath,
  delete: ApiPath,
  /** Who sends it; where nothing is said, the case's merchant, or its operator where the path is for operators. */
  by: CallerReference.optional(),
  headers: z.record(Text, Text).optional(),
  body: z.unknown().optional(),
  as: Name.optional(),
  expect: z
    .strictObject({
      http: ExpectedStatus.optional(),
      headers: z.record(Text, Matcher).optional(),
      body: Matcher.optional(),
    })
    .optional(),
})

/** Each verb with the schema of what follows it, and a line that shows how it is written. */
export const VERBS = {
  pay: { schema: Pay, example: 'pay: { as: p1, amount: "50.00", currency: GBP }' },
  bank: { schema: Bank, example: 'bank: { approve: $p1 }' },
  await: {
    schema: z.union([
      AwaitPayment,
      AwaitWebhook,
      AwaitDispute,
      AwaitDisputeOf,
      AwaitOrder,
      AwaitAccount,
      AwaitConsent,
      AwaitRecurring,
      AwaitRequest,
      AwaitOffer,
    ]),
    example: 'await: { payment: $p1, status: Settled, within: 10s }',
  },
  expect: {
    schema: z.union([
      ExpectPayment,
      ExpectWebhook,
      ExpectDispute,
      ExpectOrder,
      ExpectAccount,
      ExpectBooks,
      ExpectConsent,
      ExpectReceipt,
      ExpectRecurring,
      ExpectRequest,
      ExpectOffer,
      ExpectMerchant,
      ExpectAudit,
    ]),
    example: 'expect: { of: $p1, status: Settled }',
  },
  refund: { schema: RefundStep, example: 'refund: { payment: $p1 }' },
  webhooks: { schema: Webhooks, example: 'webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized] }' },
  receiver: { schema: ReceiverBehaviour, example: 'receiver: { answers: [500] }' },
  endpoint: { schema: Endpoint, example: 'endpoint: { paused: true }' },
  rotate_secret: { schema: RotateSecret, example: 'rotate_secret: { overlap: 1h }' },
  replay: { schema: z.union([ReplayOne, ReplayMany]), example: 'replay: { webhook: payment.settled, for: $p1 }' },
  dispute: {
    schema: RaiseDispute,
    example: 'dispute: { payment: $p1, by: payer, reason: ITEM_NOT_RECEIVED, as: d1 }',
  },
  evidence: { schema: Evidence, example: 'evidence: { dispute: $d1, text: "signed for on Monday" }' },
  accept: { schema: Accept, example: 'accept: { dispute: $d1, refund: true }' },
  escalate: { schema: Escalate, example: 'escalate: { dispute: $d1, reason: "a large amount" }' },
  resolve: {
    schema: Resolve,
    example: 'resolve: { dispute: $d1, favour: payer, note: "nothing arrived", refund: true }',
  },
  kyb: { schema: Kyb, example: 'kyb: { status: SUSPENDED, reason: "documents expired" }' },
  hold: { schema: Hold, example: 'hold: { payouts: true, reason: "odd volume" }' },
  customer: { schema: CustomerStep, example: 'customer: { as: c1, balance: "500.00" }' },
  order: { schema: OrderStep, example: 'order: { as: o1, from: $c1, to: $c2, amount: "10.00" }' },
  checkout: { schema: CheckoutStep, example: 'checkout: { as: p1, amount: "12.50", currency: GBP, order: order-1 }' },
  sca: { schema: Sca, example: 'sca: { payment: $p1, error: access_denied }' },
  'payment.cancel': { schema: PaymentCancel, example: 'payment.cancel: { payment: $p1, by: payer }' },
  'payment.contact': {
    schema: PayerContactStep,
    example: 'payment.contact: { payment: $p1, contact: ada@example.org }',
  },
  'payer.link': { schema: PayerLink, example: 'payer.link: { as: link, contact: ada@example.org }' },
  'payer.verify': { schema: PayerVerify, example: 'payer.verify: { as: ada, link: $link }' },
  'payer.payments': { schema: PayerPayments, example: 'payer.payments: { payer: $ada, count: 1 }' },
  'payer.consents': { schema: PayerConsents, example: 'payer.consents: { payer: $ada, count: 0 }' },
  'payer.dispute': {
    schema: PayerDisputeStep,
    example: 'payer.dispute: { as: d1, payer: $ada, payment: $p1, reason: ITEM_NOT_RECEIVED }',
  },
  'payer.sign_out': { schema: PayerSignOut, example: 'payer.sign_out: { payer: $ada }' },
  'consent.cancel': { schema: ConsentCancel, example: 'consent.cancel: { consent: $p1, payer: $ada }' },
  'consent.end': { schema: ConsentEnd, example: 'consent.end: { consent: $p1 }' },
  ...BANK_VERBS,
  clock: { schema: Clock, example: 'clock: { advance: 11h }' },
  http: { schema: Http, example: 'http: { get: "/payments/$p1.payment_id", expect: { http: 200 } }' },
} as const
export type Verb = keyof typeof VERBS
export const VERB_NAMES: readonly string[] = Object.keys(VERBS)

export function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERBS, word)
}

/** The refusal that a step is expected to meet; stands beside any verb. */
export const ExpectError = z.strictObject({
  http: HttpStatus.optional(),
  code: Text.optional(),
  /** Text that the message contains, or "/a regex/". */
  match: Text.superRefine((value, context) => {
    for (const problem of matcherProblems(value)) context.addIssue({ code: 'custom', ...problem })
  }).optional(),
})
export type ExpectError = z.infer<typeof ExpectError>
