import type { Command } from 'commander'
import { z } from 'zod'
import { isAmountText } from '../../src/lib/money.ts'
import { DataOption, collect } from '../kit/option-values.ts'
import type { Client } from '../client/call.ts'
import { usageError } from '../base/errors.ts'
import { mandateId } from '../mandates/find.ts'
import { momentOf } from '../base/moments.ts'

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

/**
 * The members of a creation that are about a mandate.
 * @param commandWith the command as it was typed, with other values
 * @throws {CliError} exit code 2
 */
export async function mandateOf(
  client: Client,
  options: MandateOptions,
  commandWith: (changed: Record<string, string | string[]>) => string,
): Promise<Record<string, unknown>> {
  const { mandate, maxAmount, periodic = [], validTo, consent } = options
  if (consent !== undefined) {
    refuse('--consent names a mandate, whose caps and end are its own', options)
    return { consent_id: await mandateId(client, consent) }
  }
  if (!mandate) {
    refuse('these go with --mandate', options)
    return {}
  }
  if (maxAmount === undefined)
    throw usageError('a mandate says how much one payment may take: --max-amount', commandWith({ maxAmount: '20.00' }))
  if (!isAmountText(maxAmount))
    throw usageError(`--max-amount: "${maxAmount}" is no amount`, commandWith({ maxAmount: '20.00' }))
  return {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: {
      max_amount_per_payment: maxAmount,
      ...(periodic.length === 0
        ? {}
        : { periodic_limits: limitsOf(periodic, commandWith({ periodic: ['MONTH:200.00'] })) }),
    },
    ...(validTo === undefined ? {} : { valid_to: await momentOf(validTo, '--valid-to', DAY_END) }),
  }
}

/** The last second of a day that is said alone. */
const DAY_END = '23:59:59'

function refuse(why: string, { maxAmount, periodic, validTo }: MandateOptions): void {
  const flags = [
    maxAmount === undefined ? '' : '--max-amount',
    periodic === undefined ? '' : '--periodic',
    validTo === undefined ? '' : '--valid-to',
  ].filter((flag) => flag !== '')
  if (flags.length > 0) throw usageError(`${flags.join(', ')}: ${why}`, 'svc payments create --help')
}

type Limit = { period: string; max_amount: string }

function limitsOf(words: readonly string[], instead: string): Limit[] {
  return words.map((word) => limitOf(word, instead))
}

function limitOf(word: string, instead: string): Limit {
  const { period, amount } = /^(?<period>[a-z_]+):(?<amount>[^:]+)$/i.exec(word)?.groups ?? {}
  if (period === undefined || amount === undefined || !isAmountText(amount))
    throw usageError(`--periodic: "${word}" is no period with an amount`, instead)
  return { period: period.toUpperCase(), max_amount: amount }
}
