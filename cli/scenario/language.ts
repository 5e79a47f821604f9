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
import { Accept, AwaitDispute, Escalate, Evidence, ExpectDispute, RaiseDispute, Resolve } from './language/disputes.ts'
import { Hold, Kyb } from './language/merchant.ts'
import { Advance, HttpStatus, Matcher, Name, Text } from './language/parts.ts'
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
  merchant: z
    .strictObject({
      name: Text.optional(),
      kyb: z.enum(['PENDING', 'APPROVED', 'SUSPENDED']).optional(),
      payout_held: z.boolean().optional(),
      fee_percentage: Text.optional(),
      fee_flat: Text.optional(),
    })
    .optional(),
  receiver: z.union([ReceiverBehaviour, z.literal(false)]).optional(),
})
export type Given = z.infer<typeof Given>

export const Clock = z.strictObject({ advance: Advance })

const ApiPath = z.string().regex(/^[/$]/, 'must be a path below /api/v1, such as "/payments"').optional()
export const Http = z.strictObject({
  get: ApiPath,
  post: ApiPath,
  put: ApiPath,
  delete: ApiPath,
  headers: z.record(Text, Text).optional(),
  body: z.unknown().optional(),
  as: Name.optional(),
  expect: z
    .strictObject({
      http: HttpStatus.optional(),
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
    schema: z.union([AwaitPayment, AwaitWebhook, AwaitDispute, AwaitOrder, AwaitAccount]),
    example: 'await: { payment: $p1, status: Settled, within: 10s }',
  },
  expect: {
    schema: z.union([ExpectPayment, ExpectWebhook, ExpectDispute, ExpectOrder, ExpectAccount, ExpectBooks]),
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

const Steps = Object.entries(VERBS).map(([verb, { schema }]) =>
  z.strictObject({ [verb]: schema, expect_error: ExpectError.optional() }),
)

export const VarValue = z.union([z.string(), z.int(), z.boolean()])

/** What stands above the steps. Steps are checked one by one, each by its own verb's schema. */
export const Frame = z.strictObject({
  scenario: z.literal('v1'),
  name: z.string().min(1).max(200),
  vars: z.record(Name, VarValue).optional(),
  given: Given.optional(),
  steps: z.array(z.unknown()).min(1).max(500),
})

/** The JSON Schema of one document, for editors. */
export function jsonSchema(): Record<string, unknown> {
  const Scenario = Frame.extend({ steps: z.array(z.union(Steps)).min(1).max(500) })
  return { ...z.toJSONSchema(Scenario, { io: 'input', unrepresentable: 'any' }), title: 'svc scenario, v1' }
}
