import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PaymentStatus } from '../../src/wire/payments.ts'
import type { listPayments } from '../../src/wire/payments.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { TimeRange, rangeOf, withTimeRange } from '../kit/time-range.ts'

/** The filters that payments and the ledger have alike. */
export function filtered(command: Command): Command {
  command
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'only in this status').choices(PaymentStatus.options))
  return withTimeRange(command, 'created')
    .option('--currency <code>', 'only in this currency')
    .option('--min-amount <amount>', 'of this gross amount or more')
    .option('--max-amount <amount>', 'of this gross amount or less')
    .option('--end-to-end-id <id>', 'with this reference')
    .option('--bank-id <id>', 'from this bank')
}

const text = z.string().optional()

export const FilterOptions = TimeRange.extend({
  status: PaymentStatus.optional(),
  currency: text,
  minAmount: text,
  maxAmount: text,
  endToEndId: text,
  bankId: text,
})

export type Filter = Omit<NonNullable<OperationInput<typeof listPayments>['query']>, 'limit' | 'cursor'>

/** @throws {CliError} for a time that is none */
export function filterOf(options: z.infer<typeof FilterOptions>): Filter {
  const given = {
    status: options.status,
    ...rangeOf(options),
    currency: options.currency?.toUpperCase(),
    min_amount: options.minAmount,
    max_amount: options.maxAmount,
    end_to_end_id: options.endToEndId,
    bank_id: options.bankId,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
