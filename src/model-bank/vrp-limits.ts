import { DateTime } from 'luxon'
import { parseAmount } from '../lib/money.ts'
import { BankError } from './bank-error.ts'
import type { Consent, Payment } from './books.ts'
import type { ControlParameters, PeriodicLimit } from './shapes.ts'

const ZONE = 'Europe/London'

/**
 * The limits that the payer approved: per payment, per period and in time.
 * @throws {BankError} that names the control parameter which the payment breaks
 */
export function checkLimits(
  consent: Consent,
  parameters: ControlParameters,
  { amount, payments }: { amount: { Amount: string; Currency: string }; payments: readonly Payment[] },
): void {
  const { MaximumIndividualAmount: single, ValidFromDateTime: from, ValidToDateTime: to } = parameters
  const now = Date.now()
  if (from !== undefined && Date.parse(from) > now) throw broken('ValidFromDateTime')
  if (to !== undefined && Date.parse(to) <= now) throw broken('ValidToDateTime')
  if (amount.Currency !== single.Currency || parseAmount(amount.Amount) > parseAmount(single.Amount)) {
    throw broken('MaximumIndividualAmount')
  }
  const counted = payments.filter(({ consentId, status }) => consentId === consent.id && status !== 'RJCT')
  for (const [index, limit] of parameters.PeriodicLimits.entries()) {
    const start = startOfPeriod(limit, DateTime.fromISO(consent.createdAt), DateTime.fromMillis(now)).toMillis()
    const inPeriod = counted.filter(({ createdAt }) => Date.parse(createdAt) >= start)
    const sum = inPeriod.reduce((total, each) => total + parseAmount(each.amount), parseAmount(amount.Amount))
    if (sum > parseAmount(limit.Amount)) throw broken(`PeriodicLimits.${String(index)}`)
  }
}

function broken(parameter: string): BankError {
  const path = `Data.ControlParameters.${parameter}`
  return new BankError('UK.OBIE.Rules.FailsControlParameters', `the payment breaks ${parameter}`, { path })
}

const LENGTHS = {
  Day: { days: 1 },
  Week: { weeks: 1 },
  Fortnight: { weeks: 2 },
  Month: { months: 1 },
  'Half-year': { months: 6 },
  Year: { years: 1 },
} as const

/** When the period that `now` is in began: with the calendar's own in London, or counted from the day of the consent. */
export function startOfPeriod(limit: PeriodicLimit, consentAt: DateTime, now: DateTime): DateTime {
  const today = now.setZone(ZONE)
  if (limit.PeriodAlignment === 'Calendar') return startOfCalendarPeriod(limit.PeriodType, today)
  const first = consentAt.setZone(ZONE).startOf('day')
  const { [limit.PeriodType]: length } = LENGTHS
  // Counted from the first day each time: months of unequal lengths would drift otherwise.
  let count = 0
  while (first.plus(multiplied(length, count + 1)) <= today) count += 1
  return first.plus(multiplied(length, count))
}

function multiplied(
  length: Partial<Record<'days' | 'weeks' | 'months' | 'years', number>>,
  by: number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(length).map(([unit, value]) => [unit, value * by]))
}

function startOfCalendarPeriod(type: PeriodicLimit['PeriodType'], today: DateTime): DateTime {
  switch (type) {
    case 'Day':
      return today.startOf('day')
    case 'Week':
      return today.startOf('week')
    case 'Fortnight':
      return today.startOf('week').minus({ weeks: (today.weekNumber + 1) % 2 })
    case 'Month':
      return today.startOf('month')
    case 'Half-year':
      return today.startOf('year').plus({ months: today.month > 6 ? 6 : 0 })
    case 'Year':
      return today.startOf('year')
    default:
      return type satisfies never
  }
}
