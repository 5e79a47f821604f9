import { z } from 'zod'
import { parseDuration } from '../../../src/lib/duration.ts'
import { matcherProblems } from '../matchers.ts'

/** What a step refers to by the name that an earlier step gave it: `$p1`. */
function reference(what: string, name: string): z.ZodType<string> {
  return z
    .string()
    .regex(/^\$(\w+|\{\w+\})$/, `must be a ${what} by its name, such as $${name}`)
    .meta({ description: `a ${what} that a step before has made: $${name}`, examples: [`$${name}`] })
}

export const PaymentReference = reference('payment', 'p1')
export const DisputeReference = reference('dispute', 'd1')
export const CustomerReference = reference('customer', 'c1')
export const OrderReference = reference('payment over the Open Banking API', 'o1')
export const AccountReference = reference("customer, or the merchant's settlement account: $merchant,", 'c1')

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
export const Wait = durationUpTo('1h', '10s')
/** How long two secrets sign. */
export const Overlap = durationUpTo('7d', '24h')
/** As far as the sandbox's clock goes in one advance. */
export const Advance = durationUpTo('400d', '11h')

export const Name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,39}$/, 'must be a name of letters, digits and _, such as p1')
  .meta({ description: 'the name by which later steps refer to the result' })

export const Text = z.string()
export const HttpStatus = z.int('must be an HTTP status, such as 200').min(100).max(599)

/** What a value is expected to be; see matchers.ts. */
export const Matcher = z
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

const MONEY_FIELDS = new Set([
  'gross_amount',
  'fee_amount',
  'net_amount',
  'refunded_amount',
  'remaining_amount',
  'balance',
  'overdraft_limit',
])

/** A matcher for each field of a resource. */
export function matchersOf(resource: z.ZodObject): Record<string, z.ZodOptional<z.ZodType>> {
  return Object.fromEntries(
    Object.keys(resource.shape).map((field) => [field, (MONEY_FIELDS.has(field) ? MoneyMatcher : Matcher).optional()]),
  )
}

export const expectedOf = (resource: z.ZodObject) =>
  z.strictObject({ ...matchersOf(resource), http: HttpStatus.optional() }).optional()
