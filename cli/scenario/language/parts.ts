import { z } from 'zod'
import { parseDuration } from '../../../src/lib/duration.ts'
import { matcherProblems, isMatcher } from '../matchers.ts'
import { nearestWord } from '../../base/nearest-word.ts'

/** What a reference may name as a whole: what a step made. The case's own merchant is one too. */
export type ReferenceKind =
  | 'payment'
  | 'dispute'
  | 'customer'
  | 'order'
  | 'link'
  | 'payer'
  | 'recurring'
  | 'request'
  | 'offer'
  | 'merchant'
  | 'bank account'

const kindsOfReferences = z.registry<{ kinds: readonly ReferenceKind[] }>()

declare const named: unique symbol
/** The name of something that a step before has made; which kinds of thing it may name is known to the types alone. */
export type ReferenceTo<Kind extends ReferenceKind> = string & { readonly [named]?: Kind }
/** The kinds that a field may name; never for a field that names nothing. */
export type KindsNamedBy<Field> = typeof named extends keyof Field ? NonNullable<Field[typeof named]> : never

/** What a step refers to by the name that an earlier step gave it: `$p1`. */
function reference<Kind extends ReferenceKind>(
  what: string,
  name: string,
  kinds: readonly Kind[],
): z.ZodType<ReferenceTo<Kind>, ReferenceTo<Kind>> {
  return z
    .string()
    .regex(/^\$(\w+|\{\w+\})$/, `must be a ${what} by its name, such as $${name}`)
    .meta({ description: `a ${what} that a step before has made: $${name}`, examples: [`$${name}`] })
    .register(kindsOfReferences, { kinds })
}

const CALLER_KINDS = ['customer', 'payer', 'merchant'] as const
type Caller = ReferenceTo<(typeof CALLER_KINDS)[number]> | 'operator' | 'anonymous'
const caller: z.ZodType<Caller, Caller> = z
  .string()
  .regex(
    /^(operator|anonymous|\$(\w+|\{\w+\}))$/,
    'must be operator, anonymous, or a customer, payer or merchant by its name, such as $c1',
  )
  .meta({
    description: 'a customer, a payer who is signed in, or a merchant: $c1, $ada, $other; or operator, or anonymous',
    examples: ['$c1', 'operator', 'anonymous'],
  })
  .register(kindsOfReferences, { kinds: CALLER_KINDS })

/** References by what they name. */
export const Ref = {
  payment: reference('payment', 'p1', ['payment']),
  dispute: reference('dispute', 'd1', ['dispute']),
  customer: reference('customer', 'c1', ['customer']),
  order: reference('payment over the Open Banking API', 'o1', ['order']),
  link: reference('link of the payer hub', 'link', ['link']),
  payer: reference('payer who is signed in', 'ada', ['payer']),
  account: reference("customer, or the merchant's settlement account: $merchant,", 'c1', ['customer', 'merchant']),
  merchant: reference("merchant, or the case's own: $merchant,", 'other', ['merchant']),
  recurring: reference('recurring payment', 's1', ['recurring']),
  request: reference('request to pay', 'r1', ['request']),
  offer: reference('offer to pay', 'f1', ['offer']),
  bankAccount: reference('bank account', 'b1', ['bank account']),
  caller,
}

/** The fields of a verb's input, in any of its forms, that name something as a whole, with the kinds of thing they name. */
export function referenceFieldsOf(schema: z.core.$ZodType): ReadonlyMap<string, readonly ReferenceKind[]> {
  const shapes = formsOf(schema).flatMap((shape) => Object.entries(shape))
  const fields = new Map<string, readonly ReferenceKind[]>()
  for (const [field, type] of shapes) {
    const kinds = variantsOf(type).flatMap((variant) => kindsOfReferences.get(variant)?.kinds ?? [])
    if (kinds.length > 0) fields.set(field, [...new Set([...(fields.get(field) ?? []), ...kinds])])
  }
  return fields
}

export function formsOf(schema: z.core.$ZodType): z.core.$ZodShape[] {
  return variantsOf(schema).flatMap((form) => (form instanceof z.ZodObject ? [form.shape] : []))
}

/** The forms that a schema has: those of a union, whether or not it may be left out. */
function variantsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional) return variantsOf(schema.unwrap())
  return schema instanceof z.ZodUnion ? schema.options.flatMap(variantsOf) : [schema]
}

/** A duration of at most so much. One that a reference stands for is looked at once it is filled in. */
function durationUpTo(most: string, example: string): z.ZodType<string, string> {
  const mostMs = parseDuration(most)
  return z
    .string()
    .regex(/^(\d{1,9}(ms|s|m|h|d)|\$.+)$/, 'must be a duration such as 250ms, 10s, 5m, 11h or 2d')
    .refine((text) => (msOf(text) ?? 0) <= mostMs, `must be at most ${most}`)
    .meta({ description: `a duration such as 250ms, 10s, 5m, 11h or 2d; at most ${most}`, examples: [example] })
}

/** Undefined for what is no duration (yet), which the pattern rejects. */
function msOf(text: string): number | undefined {
  try {
    return parseDuration(text)
  } catch {
    return undefined
  }
}

/** How long a step waits for something where it does not say. */
export const WITHIN = '10s'

/** How long a step waits, or a receiver takes. */
export const Wait = durationUpTo('1h', '10s')
/** As far as the sandbox's clock goes in one advance. */
export const Advance = durationUpTo('400d', '11h')

export const Name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,39}$/, 'must be a name of letters, digits and _, such as p1')
  .meta({ description: 'the name by which later steps refer to the result' })

export const Text = z.string()
export const HttpStatus = z.int('must be an HTTP status, such as 200').min(100).max(599)

const STATUS_MATCHER = /^((>=|<=|>|<|==|!=) ?\d{3}|\$.+)$/
const STATUS_RULE = 'must be an HTTP status, such as 200, or a list of those that are right: [200, 202]'
const Statuses = z.array(HttpStatus, STATUS_RULE).min(1)
/** The status that an answer is expected to have: one, several that are right, or a matcher. */
export const ExpectedStatus = z.union([
  HttpStatus,
  Statuses,
  z.string().regex(STATUS_MATCHER, STATUS_RULE),
  z.strictObject({ one_of: Statuses }),
])
export type ExpectedStatus = z.infer<typeof ExpectedStatus>

export const Matcher = z
  .unknown()
  .superRefine((value, context) => {
    for (const problem of matcherProblems(value)) context.addIssue({ code: 'custom', ...problem })
  })
  .meta({
    description:
      'a literal, "/regex/", ">= 10", {type: uuid}, {one_of: [..]}, {contains: ..}, {absent: true}, or {equals: ..} for a value as it is, also one that looks like a matcher',
  })

/** A misspelt matcher would be taken for a literal, and one value is never one. */
const ScalarMatcher = Matcher.superRefine((value, context) => {
  const message = scalarProblem(value)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

/** Amounts are text on the wire; a number here would never match. */
const MoneyMatcher = ScalarMatcher.superRefine((value, context) => {
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
  'amount',
  'max_amount_per_payment',
  'overdraft_limit',
])

type MatchersOf<Shape> = { [Field in keyof Shape]: z.ZodOptional<z.ZodUnknown> }

export function matchersOf<Shape extends z.ZodRawShape>(resource: z.ZodObject<Shape>): MatchersOf<Shape> {
  const fields = Object.entries(resource.shape).map(([field, type]) => [field, matcherFor(field, type).optional()])
  // One for each field, which Object.fromEntries can't say.
  return Object.fromEntries(fields) as MatchersOf<Shape>
}

function matcherFor(field: string, type: z.core.$ZodType): typeof Matcher {
  if (!isScalar(type)) return Matcher
  return MONEY_FIELDS.has(field) ? MoneyMatcher : ScalarMatcher
}

export const expectedOf = <Shape extends z.ZodRawShape>(resource: z.ZodObject<Shape>) =>
  z.strictObject({ ...matchersOf(resource), http: ExpectedStatus.optional() }).optional()

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'enum', 'literal', 'null'])

export function isScalar(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod
  if ('innerType' in def) return isScalar(def.innerType as z.core.$ZodType)
  if ('options' in def && Array.isArray(def.options)) return def.options.every(isScalar)
  return SCALARS.has(def.type)
}

/** The words that a matcher may begin with; a type of its own has a rule in matchers.ts. */
const WORDS = ['one_of', 'contains', 'type', 'absent', 'equals']

/** What people write for a list of choices elsewhere. */
const CHOICE = new Set(['in', 'any_of', 'anyof', 'enum', 'either', 'or'])

function scalarProblem(expected: unknown): string | undefined {
  if (typeof expected !== 'object' || expected === null) return undefined
  if (Array.isArray(expected)) return 'is one value, and never a list: did you mean { one_of: […] }?'
  const [key, ...others] = Object.keys(expected)
  if (key === undefined || others.length > 0) return 'is one value, and never a mapping'
  if (key === 'type') return isMatcher(expected) ? undefined : 'is one value: { type: … } takes a word such as uuid'
  if (WORDS.includes(key)) return undefined
  const meant = CHOICE.has(key.toLowerCase()) ? 'one_of' : nearestWord(key, WORDS)
  const known = meant === undefined ? `there are ${WORDS.join(', ')}, and "/regex/"` : `did you mean ${meant}?`
  return `has no matcher "${key}": ${known}`
}

/** What a name that a step gives stands for, and the members that later steps may ask of it. */
export type Makes = { kind: 'refund' | 'answer' | ReferenceKind; members: readonly string[] }

/** Verbs: what follows each, what it does, and lines that show how it is written, the plainest first. */
export type VerbTable = Readonly<
  Record<
    string,
    { schema: z.ZodType; text: string; examples: readonly [string, ...string[]]; makes?: Makes | undefined }
  >
>

export function made<Kind extends Makes['kind']>(
  kind: Kind,
  { shape }: Pick<z.ZodObject, 'shape'>,
): { kind: Kind; members: readonly string[] } {
  return { kind, members: Object.keys(shape) }
}
