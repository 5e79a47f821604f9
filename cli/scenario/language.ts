import { z } from 'zod'
import { CreatedPayment, DebtorAccountScheme, Payment, PaymentStatus, Refund } from '../../src/wire/payments.ts'
import { Delivery, DeliveryStatus } from '../../src/wire/portal.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import { matcherProblems } from './matchers.ts'

/*
 * The language of scenario files, as schemas: one for each verb. The runner, `svc sandbox scenarios validate` and the
 * published JSON Schema read the same declarations.
 */

/** The events that webhooks tell of (specification, Webhook events; decision 21 for the partial refund). */
export const EventType = z.enum([
  'payment.initiated',
  'payment.authorized',
  'payment.settled',
  'payment.failed',
  'payment.refunded',
  'payment.partially_refunded',
  'dispute.opened',
  'dispute.resolved',
])

const PaymentReference = z
  .string()
  .regex(/^\$(\w+|\{\w+\})$/, 'must be a payment by its name, such as $p1')
  .meta({ description: 'a payment that a step before has made: $p1', examples: ['$p1'] })

/** A duration of at most so much. One that a reference stands for is looked at once it is filled in. */
function durationUpTo(most: string, example: string): z.ZodType<string> {
  const mostMs = parseDuration(most)
  return z
    .string()
    .regex(/^(\d{1,9}(ms|s|m|h|d)|\$.+)$/, 'must be a duration such as 250ms, 10s, 5m, 11h or 2d')
    .refine((text) => (msOf(text) ?? 0) <= mostMs, `must be at most ${most}`)
    .meta({ description: `a duration such as 250ms, 10s, 5m, 11h or 2d; at most ${most}`, examples: [example] })
}

/** Undefined for what is no duration (yet), which the pattern tells. */
function msOf(text: string): number | undefined {
  try {
    return parseDuration(text)
  } catch {
    return undefined
  }
}

/** How long a step waits, or a receiver takes. */
const Wait = durationUpTo('1h', '10s')
/** As far as the sandbox's clock goes in one advance. */
const Advance = durationUpTo('400d', '11h')

const Name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,39}$/, 'must be a name of letters, digits and _, such as p1')
  .meta({ description: 'the name by which later steps refer to the result' })

const Text = z.string()
const HttpStatus = z.int('must be an HTTP status, such as 200').min(100).max(599)

/** What a value is expected to be; see matchers.ts. */
const Matcher = z
  .unknown()
  .superRefine((value, context) => {
    for (const problem of matcherProblems(value)) context.addIssue({ code: 'custom', ...problem })
  })
  .meta({
    description:
      'a literal, "/regex/", ">= 10", {type: uuid}, {one_of: [..]}, {contains: ..}, {absent: true}, or {equals: ..} for a value as it is, also one that looks like a matcher',
  })

/** Amounts are text on the wire; a number here would never match. */
const MoneyMatcher = Matcher.superRefine((value, context) => {
  if (typeof value === 'number')
    context.addIssue({ code: 'custom', message: `is an amount, which is text: "${value}" in quotes` })
})

const MONEY_FIELDS = new Set(['gross_amount', 'fee_amount', 'net_amount', 'refunded_amount', 'remaining_amount'])

/** A matcher for each field of a resource. */
function matchersOf(resource: z.ZodObject): Record<string, z.ZodOptional<z.ZodType>> {
  return Object.fromEntries(
    Object.keys(resource.shape).map((field) => [field, (MONEY_FIELDS.has(field) ? MoneyMatcher : Matcher).optional()]),
  )
}

const expectedOf = (resource: z.ZodObject) =>
  z.strictObject({ ...matchersOf(resource), http: HttpStatus.optional() }).optional()

export const ReceiverBehaviour = z.strictObject({
  /** One status per delivery, in turn; the last one repeats. */
  answers: z.array(HttpStatus).min(1).max(1_000).optional(),
  /** How long the receiver takes before it answers. */
  delay: Wait.optional(),
})

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

export const Pay = z.strictObject({
  as: Name.optional(),
  /** A payment to create again, with the same idempotency key and body. */
  repeat: PaymentReference.optional(),
  amount: Text.optional(),
  currency: Text.optional(),
  idempotency_key: Text.optional(),
  redirect_uri: Text.optional(),
  payer_name: Text.optional(),
  payer_email: Text.optional(),
  payer_phone: Text.optional(),
  remittance_reference: Text.optional(),
  debtor_bank_id: Text.optional(),
  debtor_account_scheme: DebtorAccountScheme.optional(),
  debtor_identification: Text.optional(),
  metadata: z.record(Text, Text).optional(),
  /** How the mock bank behaves, such as insufficient-funds. */
  scenario: Text.optional(),
  /** What the payer does at the bank at once: short for a step `bank`. */
  bank: z.enum(['approve', 'cancel']).optional(),
  expect: expectedOf(CreatedPayment),
})

export const Bank = z.strictObject({ approve: PaymentReference.optional(), cancel: PaymentReference.optional() })

export const AwaitPayment = z.strictObject({
  payment: PaymentReference,
  status: PaymentStatus,
  within: Wait.optional(),
})
export const AwaitWebhook = z.strictObject({
  webhook: EventType,
  for: PaymentReference,
  status: DeliveryStatus.optional(),
  within: Wait.optional(),
})

export const ExpectPayment = z.strictObject({
  ...matchersOf(Payment),
  of: PaymentReference,
  /** The statuses that the payment has been in, in their order. */
  history: z.array(PaymentStatus).optional(),
})
export const ExpectWebhook = z.strictObject({
  ...matchersOf(Delivery),
  webhook: EventType,
  for: PaymentReference,
  /** What the receiver was sent. */
  payload: Matcher.optional(),
})

export const RefundStep = z.strictObject({
  payment: PaymentReference,
  amount: Text.optional(),
  reason: Text.optional(),
  refund_amount_available: Text.optional(),
  idempotency_key: Text.optional(),
  as: Name.optional(),
  expect: expectedOf(Refund),
})

export const Webhooks = z.strictObject({
  for: PaymentReference,
  in_order: z.array(EventType).min(1),
  /** Whether nothing else may have come for this payment. */
  exactly: z.boolean().optional(),
  signed: z.boolean().optional(),
  within: Wait.optional(),
})

export const Replay = z.strictObject({ webhook: EventType, for: PaymentReference })
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
    schema: z.union([AwaitPayment, AwaitWebhook]),
    example: 'await: { payment: $p1, status: Settled, within: 10s }',
  },
  expect: { schema: z.union([ExpectPayment, ExpectWebhook]), example: 'expect: { of: $p1, status: Settled }' },
  refund: { schema: RefundStep, example: 'refund: { payment: $p1 }' },
  webhooks: { schema: Webhooks, example: 'webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized] }' },
  receiver: { schema: ReceiverBehaviour, example: 'receiver: { answers: [500] }' },
  replay: { schema: Replay, example: 'replay: { webhook: payment.settled, for: $p1 }' },
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
