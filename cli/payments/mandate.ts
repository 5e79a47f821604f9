import type { Command } from 'commander'
import { z } from 'zod'
import { usageError } from '../base/errors.ts'
import { momentOf } from '../base/moments.ts'
import type { Client } from '../client/call.ts'
import { DataOption, collect } from '../kit/option-values.ts'
import { mandateId } from '../mandates/find.ts'

/** The options of `svc payments create` that set up a mandate, or use one. */
export const MandateOptions = z.object({
  mandate: z.boolean().default(false),
  maxAmount: z.string().optional(),
  periodic: z.array(z.string()).optional(),
  validTo: z.string().optional(),
  consent: z.string().optional(),
})
export type MandateOptions = z.infer<typeof MandateOptions>

export function withMandate(command: Command): Command {
  return command
    .optionsGroup('Recurring payments:')
    .addOption(new DataOption('--mandate', 'Set up a mandate with this first payment').conflicts('consent'))
    .option('--max-amount <amount>', 'With --mandate: maximum amount of one payment')
    .option('--periodic <period:amount>', 'With --mandate: maximum per period, MONTH:200.00; may be repeated', collect)
    .option('--valid-to <time>', 'With --mandate: its end, such as 90d or 2027-06-30 (in a year)')
    .addOption(
      new DataOption('--consent <id>', 'Pay under this mandate, without approval by the payer').conflicts([
        'approve',
        'cancel',
        'qr',
        'redirectUri',
      ]),
    )
}

/** The members of a creation that are about a mandate. @throws {CliError} exit code 2 */
export async function mandateOf(client: Client, options: MandateOptions): Promise<Record<string, unknown>> {
  const { mandate, maxAmount, periodic, validTo, consent } = options
  if (!mandate && (maxAmount ?? periodic ?? validTo) !== undefined)
    throw usageError('--max-amount, --periodic and --valid-to are of a new mandate: --mandate')
  if (consent !== undefined) return { consent_id: await mandateId(client, consent) }
  if (!mandate) return {}
  if (maxAmount === undefined)
    throw usageError('a mandate says how much one payment may take', '--mandate --max-amount 20.00')
  return {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: {
      max_amount_per_payment: maxAmount,
      ...(periodic === undefined ? {} : { periodic_limits: periodic.map((word) => limitOf(word)) }),
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
