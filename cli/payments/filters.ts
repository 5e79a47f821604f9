import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PaymentStatus } from '../../src/wire/payments.ts'
import type { listPayments } from '../../src/wire/payments.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { parseTime } from '../base/times.ts'

/** The filters that payments and the ledger have alike. */
export function filtered(command: Command): Command {
  return command
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'only in this status').choices(PaymentStatus.options))
    .option('--from <time>', 'created at this time or later, as --since: -2h, 2026-11-21, 2026-11-21T09:30:00Z')
    .option('--to <time>', 'created before this time, as --until')
    .addOption(new Option('--since <time>').conflicts('from').hideHelp())
    .addOption(new Option('--until <time>').conflicts('to').hideHelp())
    .option('--currency <code>', 'only in this currency')
    .option('--min-amount <amount>', 'of this gross amount or more')
    .option('--max-amount <amount>', 'of this gross amount or less')
    .option('--end-to-end-id <id>', 'with this reference')
    .option('--bank-id <id>', 'from this bank')
}

const text = z.string().optional()

export const FilterOptions = z.object({
  status: PaymentStatus.optional(),
  from: text,
  to: text,
  since: text,
  until: text,
  currency: text,
  minAmount: text,
  maxAmount: text,
  endToEndId: text,
  bankId: text,
})

export type Filter = Omit<NonNullable<OperationInput<typeof listPayments>['query']>, 'limit' | 'cursor'>

/** @throws {CliError} for a time that is none */
export function filterOf(options: z.infer<typeof FilterOptions>): Filter {
  const { from, to, since, until } = options
  const given = {
    status: options.status,
    from: timeOf(from, '--from') ?? timeOf(since, '--since'),
    to: timeOf(to, '--to') ?? timeOf(until, '--until'),
    currency: options.currency?.toUpperCase(),
    min_amount: options.minAmount,
    max_amount: options.maxAmount,
    end_to_end_id: options.endToEndId,
    bank_id: options.bankId,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function timeOf(text: string | undefined, flag: string): string | undefined {
  return text === undefined ? undefined : parseTime(text, flag)
}
