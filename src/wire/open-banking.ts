import { z } from 'zod'
import { SCHEME_NAMES, normalIdentification, schemeOf } from '../lib/account-identification.ts'
import { isCurrencyAmountText, toMinorUnits } from '../lib/minor-units.ts'
import { commaProblem, isKnownCurrency } from '../lib/money.ts'
import { nameText } from './common.ts'

/** The path prefix of the Open Banking API (contract §Surface A endpoints). */
export const OPEN_BANKING_PATH = '/open-banking/v1'

/** Adds a code to a failed rule, from which the error codes of the API are derived (http/open-banking-errors.ts). */
function rule(code: string, error: string) {
  return { error, params: { code } }
}

/** An amount of this surface (contract §CurrencyAmount): exact in the currency's minor unit, and greater than 0. */
export const CurrencyAmount = z
  .strictObject({
    Amount: z
      .string({ error: 'must be a decimal string such as "10.00", not a JSON number' })
      .refine(isCurrencyAmountText, {
        error: ({ input }) =>
          commaProblem(input) ?? 'must be 1 to 13 digits, a decimal point and 1 to 5 decimals, such as "10.00"',
      })
      .meta({ pattern: String.raw`^\d{1,13}\.\d{1,5}$`, examples: ['10.00'] }),
    Currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be 3 upper-case letters, such as GBP')
      .meta({ examples: ['GBP'] }),
  })
  .superRefine(({ Amount, Currency }, context) => {
    if (!/^[A-Z]{3}$/.test(Currency)) return
    if (!isKnownCurrency(Currency)) {
      context.addIssue({
        code: 'custom',
        path: ['Currency'],
        message: 'must be GBP or EUR',
        params: { code: 'UNSUPPORTED_CURRENCY' },
      })
      return
    }
    if (!isCurrencyAmountText(Amount)) return
    const minor = toMinorUnits(Amount, Currency)
    if (minor === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['Amount'],
        message: `has digits below the minor unit of ${Currency}: they must be 0`,
      })
    } else if (minor === 0n) context.addIssue({ code: 'custom', path: ['Amount'], message: 'must be greater than 0' })
  })
export type CurrencyAmount = z.infer<typeof CurrencyAmount>

/** An amount in a response. */
export const AmountResponse = z.strictObject({
  Amount: z.string().meta({ pattern: String.raw`^\d{1,13}\.\d{1,5}$`, examples: ['10.00'] }),
  Currency: z.string().meta({ examples: ['GBP'] }),
})

/** An account at any bank (contract §AccountIdentification; decision 8), normalised, with the prefix of its scheme. */
export const AccountIdentification = z
  .strictObject({
    SchemeName: z
      .string()
      .refine(
        (name) => schemeOf(name) !== undefined,
        rule('UNSUPPORTED_SCHEME', `must be one of ${SCHEME_NAMES.join(', ')}`),
      ),
    Identification: z.string().min(1).max(64),
    Name: nameText(140).optional(),
  })
  .transform(({ SchemeName, Identification, ...rest }, context) => {
    const scheme = schemeOf(SchemeName)
    const identification = scheme === undefined ? undefined : normalIdentification(scheme, Identification)
    if (scheme === undefined || identification === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['Identification'],
        message: 'must be 14 digits (sort code and account number), or an IBAN whose check digits are right',
      })
      return z.NEVER
    }
    return { SchemeName: scheme, Identification: identification, ...rest }
  })
export type AccountIdentification = z.output<typeof AccountIdentification>

export const AccountAnswer = z.strictObject({
  SchemeName: z.enum(SCHEME_NAMES),
  Identification: z.string(),
  Name: z.string().optional(),
})

/** ISO 20022's Max35Text: one line of at most 35 visible characters. */
export const Max35Text = nameText(35)

/** The reference of a payment on the account statement. */
export const RemittanceInformation = z.strictObject({ Reference: Max35Text.optional() })

const DATE_TIME = z.iso.datetime({ offset: true })

/** ISO 8601 with its offset; parsed to a point in time. */
export const DateTime = z
  .string()
  .refine(
    (text) => DATE_TIME.safeParse(text).success,
    rule('INVALID_DATE', 'must be a time with its offset, such as 2026-12-01T09:00:00+00:00'),
  )
  .meta({ format: 'date-time', examples: ['2026-12-01T09:00:00+00:00'] })

/** A day, `YYYY-MM-DD`. */
export const Day = z
  .string()
  .refine((text) => z.iso.date().safeParse(text).success, rule('INVALID_DATE', 'must be a day, such as 2026-12-01'))
  .meta({ format: 'date', examples: ['2026-12-01'] })

/** A time in a response: UTC with milliseconds. */
export const Moment = z.string().meta({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] })

/** The direction of a booking: received or paid. */
export const CreditDebit = z.enum(['Credit', 'Debit'])

/** The headers of every operation here: the caller's interaction id, which the response repeats (decision 162). */
export const InteractionHeaders = z.object({
  'x-fapi-interaction-id': z.uuid('must be a UUID').optional(),
})

/** The headers of operations that create something: a repeated key gets the first response (decision 12). */
export const KeyedHeaders = InteractionHeaders.extend({
  'x-idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,38}[\x21-\x7e])?$/, 'must be 1 to 40 printable ASCII characters')
    .optional(),
})

const WHOLE = /^\d{1,9}$/

function wholeNumber({ from, to, otherwise }: { from: number; to: number; otherwise: number }) {
  const text = `must be a whole number from ${from} to ${to}`
  return z
    .custom<number | string>((value) => WHOLE.test(String(value)), text)
    .transform(Number)
    .pipe(z.int().min(from, text).max(to, text))
    .prefault(otherwise)
    .meta({ type: 'integer', minimum: from, maximum: to, default: otherwise })
}

/** The page of a list to return (decision 7). */
export const Paging = z.strictObject({
  page: wholeNumber({ from: 1, to: 100_000_000, otherwise: 1 }),
  pageSize: wholeNumber({ from: 25, to: 1000, otherwise: 100 }),
})
export type Paging = z.output<typeof Paging>

/** Absolute addresses of this page and its neighbours, with the filters of the request. */
export const Links = z.strictObject({
  Self: z.string(),
  First: z.string().optional(),
  Prev: z.string().optional(),
  Next: z.string().optional(),
  Last: z.string().optional(),
})
export const Meta = z.strictObject({ TotalPages: z.int() })

/** A page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ Data: z.array(item), Links, Meta })
}

/** The error body of this surface: OBErrorResponse1 (decision 10). */
export const ErrorResponse = z.strictObject({
  Code: z.string(),
  Id: z.string(),
  Message: z.string(),
  Errors: z.array(
    z.strictObject({
      ErrorCode: z.string(),
      Message: z.string(),
      Path: z.string().optional(),
      Url: z.string().optional(),
    }),
  ),
})
export type ErrorResponse = z.infer<typeof ErrorResponse>
