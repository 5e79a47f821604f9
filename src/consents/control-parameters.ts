import { DomainError, invalidField, invalidFields } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'
import { parseAmount } from '../lib/money.ts'
import type { TenThousandths } from '../lib/money.ts'
import { storableJsonProblem } from './storable-json.ts'
import { PERIODS, isPeriod } from './periods.ts'
import type { Alignment, Period } from './periods.ts'

/** The caps of a mandate, read from its `control_parameters` (decision 49). */
export type Caps = { maxAmountPerPayment: TenThousandths; limits: readonly PeriodLimit[]; validTo: string | undefined }
export type PeriodLimit = { period: Period; alignment: Alignment; maxAmount: TenThousandths }

/** The Open Banking standard's names for the members of our own shape (contract §Payment consent). */
const ALIASES = {
  max_amount_per_payment: 'MaximumIndividualAmount',
  periodic_limits: 'PeriodicLimits',
} as const
const VALID_TO = 'ValidToDateTime'

const OBIE_PERIODS: Readonly<Record<string, Period>> = {
  Day: 'DAY',
  Week: 'WEEK',
  Fortnight: 'FORTNIGHT',
  Month: 'MONTH',
  'Half-year': 'HALF_YEAR',
  Year: 'YEAR',
}

const ROOT = 'control_parameters'
const LIMITS_MAX = 12
const AMOUNT_RULE =
  'must be greater than 0: a number or a decimal string of 1 to 13 digits, optionally a dot and 1 to 4 decimals'

/**
 * Reads the caps of a mandate, by the contract's names or by those of the Open Banking standard. Amounts become exact: a
 * JSON number is read from its shortest text, and rejected where it has more digits than a double keeps.
 * @param currency the payment's currency, in which amounts under Open Banking names must be
 * @throws {DomainError} VALIDATION_FAILED with every invalid member
 */
export function readCaps(parameters: Readonly<Record<string, unknown>>, currency: string): Caps {
  const problem = storableJsonProblem(parameters)
  if (problem !== undefined) throw invalidField(ROOT, 'INVALID', problem)
  const errors: FieldError[] = []
  const report = (path: string, message: string): undefined => {
    errors.push({ path: `${ROOT}.${path}`, code: 'INVALID', message })
  }
  const reader: CapsReader = { parameters, currency, report }
  for (const [name, alias] of Object.entries(ALIASES)) {
    if (Object.hasOwn(parameters, name) && Object.hasOwn(parameters, alias))
      report(name, `is set twice: leave out this member or ${alias}`)
  }
  const maxAmountPerPayment = readMaximum(reader)
  const limits = readLimits(reader)
  const validTo = readValidTo(reader)
  if (errors.length > 0 || maxAmountPerPayment === undefined) throw invalidFields(errors)
  return { maxAmountPerPayment, limits, validTo }
}

type CapsReader = {
  parameters: Readonly<Record<string, unknown>>
  currency: string
  /** Reports an invalid member, by its path below `control_parameters`. */
  report(path: string, message: string): undefined
}

function readMaximum({ parameters, currency, report }: CapsReader): TenThousandths | undefined {
  const alias = ALIASES.max_amount_per_payment
  if (Object.hasOwn(parameters, alias)) {
    const amount = obieAmount(parameters[alias], currency)
    return 'problem' in amount ? report(alias, amount.problem) : amount.value
  }
  if (!Object.hasOwn(parameters, 'max_amount_per_payment')) return report('max_amount_per_payment', 'is required')
  const value = exactAmount(parameters['max_amount_per_payment'])
  return value ?? report('max_amount_per_payment', AMOUNT_RULE)
}

function readLimits({ parameters, currency, report }: CapsReader): PeriodLimit[] {
  const isObie = Object.hasOwn(parameters, ALIASES.periodic_limits)
  const name = isObie ? ALIASES.periodic_limits : 'periodic_limits'
  const list = parameters[name]
  if (list === undefined) return []
  if (!Array.isArray(list) || list.length > LIMITS_MAX) {
    report(name, `must be a list of at most ${LIMITS_MAX}`)
    return []
  }
  return list.flatMap((each: unknown, index) => {
    const limit = isRecord(each)
      ? isObie
        ? obieLimit(each, currency)
        : ownLimit(each)
      : { member: '', problem: 'must be an object' }
    if (!('problem' in limit)) return [limit]
    report(`${name}.${index}${limit.member === '' ? '' : `.${limit.member}`}`, limit.problem)
    return []
  })
}

type LimitProblem = { member: string; problem: string }

function ownLimit(limit: Readonly<Record<string, unknown>>): PeriodLimit | LimitProblem {
  const { period } = limit
  if (!isPeriod(period)) return { member: 'period', problem: `must be one of ${PERIODS.join(', ')}` }
  const maxAmount = exactAmount(limit['max_amount'])
  if (maxAmount === undefined) return { member: 'max_amount', problem: AMOUNT_RULE }
  return { period, alignment: 'CALENDAR', maxAmount }
}

function obieLimit(limit: Readonly<Record<string, unknown>>, currency: string): PeriodLimit | LimitProblem {
  const { PeriodType: type, PeriodAlignment: alignment = 'Calendar' } = limit
  const period = typeof type === 'string' && Object.hasOwn(OBIE_PERIODS, type) ? OBIE_PERIODS[type] : undefined
  if (period === undefined)
    return { member: 'PeriodType', problem: `must be one of ${Object.keys(OBIE_PERIODS).join(', ')}` }
  if (alignment !== 'Calendar' && alignment !== 'Consent')
    return { member: 'PeriodAlignment', problem: 'must be Calendar or Consent' }
  const amount = obieAmount(limit, currency)
  if ('problem' in amount) return { member: 'Amount', problem: amount.problem }
  return { period, alignment: alignment === 'Consent' ? 'CONSENT' : 'CALENDAR', maxAmount: amount.value }
}

function obieAmount(amount: unknown, currency: string): { value: TenThousandths } | { problem: string } {
  if (!isRecord(amount)) return { problem: 'must be an object with Amount and Currency' }
  if (amount['Currency'] !== currency) return { problem: `must be in the currency of the payment, ${currency}` }
  const value = exactAmount(amount['Amount'])
  return value === undefined ? { problem: AMOUNT_RULE } : { value }
}

/** Decimal digits that a JSON number, a double, always keeps. */
const DOUBLE_DIGITS = 15

function exactAmount(value: unknown): TenThousandths | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  // String() gives the shortest text of a number: 0.1 is valid, a calculated 0.30000000000000004 has too many decimals.
  const text = String(value)
  if (!/^\d{1,13}(\.\d{1,4})?$/.test(text)) return undefined
  if (typeof value === 'number' && text.replace('.', '').replace(/^0+/, '').length > DOUBLE_DIGITS) return undefined
  const amount = parseAmount(text)
  return amount > 0n ? amount : undefined
}

function readValidTo({ parameters, report }: CapsReader): string | undefined {
  const value = parameters[VALID_TO]
  if (value === undefined) return undefined
  const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/
  const time = typeof value === 'string' && form.test(value) ? new Date(value) : new Date(NaN)
  if (isNaN(time.getTime())) return report(VALID_TO, 'must be a date and time with its offset')
  return time.toISOString()
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The caps of a stored mandate, whose control parameters were validated before they were stored. */
export function storedCaps(parameters: unknown, currency: string): Caps {
  try {
    if (isRecord(parameters)) return readCaps(parameters, currency)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
  }
  throw new Error('a stored mandate has invalid control parameters')
}
