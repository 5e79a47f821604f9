import { usageError } from '../base/errors.ts'
import { momentOf } from '../base/moments.ts'
import type { Client } from '../client/call.ts'
import { grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { mandateId } from '../mandates/find.ts'

export const MANDATE_FLAGS = grouped('Recurring payments:', {
  mandate: { summary: 'Set up a mandate with this first payment', excludes: ['consent'] },
  maxAmount: {
    value: 'amount',
    summary: 'With --mandate: maximum amount of one payment',
    member: 'control_parameters.max_amount_per_payment',
  },
  periodic: {
    value: 'period:amount',
    summary: 'With --mandate: maximum per period, MONTH:200.00; may be repeated',
    member: 'control_parameters',
    repeats: true,
  },
  validTo: { value: 'time', summary: 'With --mandate: its end, such as 90d or 2027-06-30 (in a year)' },
  consent: {
    value: 'id',
    summary: 'Pay under this mandate, without approval by the payer',
    member: 'consent_id',
    excludes: ['approve', 'cancel', 'qr', 'redirectUri'],
  },
})

export async function mandateOf(
  client: Client,
  options: Input<typeof MANDATE_FLAGS>,
): Promise<Record<string, unknown>> {
  const { mandate, maxAmount, periodic, validTo, consent } = options
  if (!mandate && ((maxAmount ?? validTo) !== undefined || periodic.length > 0))
    throw usageError('--max-amount, --periodic and --valid-to are of a new mandate: --mandate')
  if (consent !== undefined) return { consent_id: await mandateId(client, consent) }
  if (!mandate) return {}
  if (maxAmount === undefined)
    throw usageError('a mandate says how much one payment may take', '--mandate --max-amount 20.00')
  return {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: {
      max_amount_per_payment: maxAmount,
      ...(periodic.length === 0 ? {} : { periodic_limits: periodic.map((word) => limitOf(word)) }),
    },
    ...(validTo === undefined ? {} : { valid_to: await momentOf(validTo, '--valid-to', DAY_END) }),
  }
}

/** The last second of a day that is said alone. */
const DAY_END = '23:59:59'

function limitOf(word: string): { period: string; max_amount: string } {
  const [period = '', amount] = word.split(':')
  if (amount === undefined)
    throw usageError(`invalid --periodic "${word}": use a period with an amount`, '--periodic MONTH:200.00')
  return { period: period.toUpperCase(), max_amount: amount }
}
