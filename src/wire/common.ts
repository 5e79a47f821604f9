import { z } from 'zod'
import { isAmountText } from '../lib/money.ts'

/** Nothing is expected here; an operation without a query refuses one. */
export const None = z.strictObject({})

/** Headers pass through: only the declared ones mean something. */
export const NoHeaders = z.object({})

/** A request without a body. */
export const NoBody = z.undefined()

/** Text without U+0000, which PostgreSQL can't hold. */
export function text(max: number): z.ZodString {
  return z.string().min(1).max(max).regex(/^[^\u0000]*$/, 'must not contain the character U+0000')
}

/** A decimal string such as "50.00" (decision 33). A JSON number is refused: it would have been a float on the way. */
export const Amount = z
  .string({ error: 'must be a decimal string such as "50.00", not a JSON number' })
  .refine(isAmountText, 'must be 1 to 13 digits, optionally a dot and 1 to 4 decimals, such as "50.00"')
  .meta({ pattern: String.raw`^\d{1,13}(\.\d{1,4})?$`, examples: ['50.00'] })

/** An amount as the service writes it (decision 50). */
export const Money = z.string().meta({ examples: ['50.00', '0.7125'] })

export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be 3 upper-case letters, such as GBP')
  .meta({ examples: ['GBP'] })

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.string().meta({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] })

export const Uuid = z.string().meta({ format: 'uuid' })

/** Path parameter of one resource. Its form is not checked here: an id that can't exist is a 404 like any other. */
export const IdParams = z.strictObject({ id: z.string().meta({ format: 'uuid' }) })

/** How long an idempotency key may be; a UUID is recommended (decision 14). */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters; a UUID is a good choice')

/** The list form of every collection (decision 25). */
export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() })
}

/** The error body of Surface B (decision 29). Unknown routes answer a bare `message` instead. */
export const ErrorBody = z.object({
  error: z.string(),
  code: z.string(),
  status: z.int(),
  type: z.string(),
  request_id: z.string(),
  errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })).optional(),
  next: z.string().optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>
