import { z } from 'zod'
import { commaProblem, isAmountText } from '../lib/money.ts'

/** No members: an operation without a query rejects a request with one. */
export const None = z.strictObject({})

/** Undeclared headers pass through and are ignored. */
export const NoHeaders = z.object({})

/** A request without a body. */
export const NoBody = z.undefined()

/** Text without U+0000, which PostgreSQL can't hold. */
export function text(max: number): z.ZodString {
  const schema = z.string().min(1).max(max)
  // oxlint-disable-next-line no-control-regex -- the rule is about this character
  return schema.regex(/^[^\u0000]*$/, 'must not contain the character U+0000')
}

/** Invisible characters, and those that change the direction of text: two names that differ only in them look the same. */
const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800`
/** An empty text is rejected by its length. */
const VISIBLE = /^$|[\p{Letter}\p{Number}\p{Punctuation}\p{Symbol}]/u
const NAME = new RegExp(`^[^${UNSEEN}]*$`, 'u')

/** The name of a company, person or program: one line of visible characters, without surrounding blanks. */
export function nameText(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(NAME, 'must be one line without control or invisible characters')
    .regex(VISIBLE, 'must have a visible character')
}

/** Text without control characters, except tab and line breaks, and without characters that change its direction. */
const SENTENCES = /^(?:[\t\n\r]|[^\p{Cc}\p{Cs}\p{Bidi_Control}])*$/u

/**
 * The values that the caller has seen: if one of them has changed, the request changes nothing (412 CHANGED_MEANWHILE).
 * Without `expected` the change applies to the current values.
 */
export function expecting<Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodOptional<z.ZodObject<Shape, z.core.$strict>> {
  return z.strictObject(shape).optional().meta({
    description: 'the values that the caller has seen; if one of them has changed, the request changes nothing',
  })
}

/** The reason of an action, for the audit trail. */
export function reasonText(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(SENTENCES, 'must not contain control characters other than tab and line break')
    .regex(VISIBLE, 'must have a visible character')
}

/** A decimal string such as "50.00" (decision 33). A JSON number is rejected: parsing makes it a float. */
export const Amount = z
  .string({ error: 'must be a decimal string such as "50.00", not a JSON number' })
  .refine(isAmountText, {
    error: ({ input }) =>
      commaProblem(input) ?? 'must be 1 to 13 digits, optionally a decimal point and 1 to 4 decimals, such as "50.00"',
  })
  .meta({ pattern: String.raw`^\d{1,13}(\.\d{1,4})?$`, examples: ['50.00'] })

/** An amount as the service writes it (decision 50). */
export const Money = z.string().meta({ examples: ['50.00', '0.7125'] })

export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be 3 upper-case letters, such as GBP')
  .meta({ examples: ['GBP'] })

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.string().meta({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] })

/** A time in a request: ISO 8601 with its offset, in a year that PostgreSQL supports. Parsed to UTC with milliseconds. */
export const Instant = z.iso
  .datetime({ offset: true })
  .refine(isInCalendar, 'must be in the years 1 to 9999')
  .transform((text) => new Date(text).toISOString())

function isInCalendar(text: string): boolean {
  const year = new Date(text).getUTCFullYear()
  // A value that is not a date has its own error already.
  return !(year < 1 || year > 9999)
}

/** The size of a page: 1 to 100, by default 50 (decision 25). A query is text, so it accepts digits only. */
export const Limit = z
  .custom<number | string>((value) => /^\d{1,9}$/.test(String(value)), 'must be a whole number')
  .transform(Number)
  .pipe(z.int().min(1).max(100))
  .prefault(50)
  .meta({ type: 'integer', minimum: 1, maximum: 100 })

export const Uuid = z.string().meta({ format: 'uuid' })

/** Path parameter of one resource. Its form is not checked here: an id that can't exist is a 404 like any other. */
export const IdParams = z.strictObject({ id: z.string().meta({ format: 'uuid' }) })

/** Maximum length of an idempotency key; a UUID is recommended (decision 14). */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters; a UUID is a good choice')

/** The list form of every collection (decision 25). */
export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() })
}

/** The description of a list that compares its filters with each row (decision 389). */
export const EXAMINED_PAGES =
  'A page with a filter examines rows for a limited time and may be short or even empty: continue while has_more is true.'

/** The error body of Surface B (decision 29). Unknown routes respond with a bare `message` instead. */
export const ErrorBody = z.object({
  error: z.string(),
  code: z.string(),
  status: z.int(),
  type: z.string(),
  request_id: z.string(),
  trace_id: z.string().optional(),
  errors: z
    .array(
      z.object({
        path: z.string(),
        code: z.string(),
        message: z.string(),
        expected: z.string().optional().meta({ description: 'the only value that is accepted' }),
        value: z.string().optional().meta({ description: 'the rejected part of the value' }),
      }),
    )
    .optional(),
  next: z.string().optional(),
  next_step: z
    .object({ operation: z.string(), params: z.record(z.string(), z.string()) })
    .optional()
    .meta({ description: 'the operation that takes the caller on, with the known parameters of its path' }),
  available: z.string().optional().meta({ description: 'the amount that is still possible' }),
  current: z
    .record(z.string(), z.union([z.string(), z.boolean(), z.null()]))
    .optional()
    .meta({ description: 'the values of the resource that made the request impossible' }),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** The names of a row's merchant, for operators. */
export const MerchantNames = { realm_slug: z.string().nullable(), trading_name: z.string() }
