import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PaymentStatus } from '../../src/wire/payments.ts'
import type { listPayments } from '../../src/wire/payments.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { TimeRange, rangeOf, withTimeRange } from '../kit/time-range.ts'
import { findMerchant } from '../merchants/find.ts'
import { MerchantScope, ofMerchants } from '../merchants/whose.ts'

/** The filters of lists and exports, and whose payments an operator means. */
export function filtered(command: Command): Command {
  command
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'Filter by status').choices(PaymentStatus.options))
  withTimeRange(command, 'Created')
    .option('--currency <code>', 'Filter by currency')
    .option('--min-amount <amount>', 'Minimum gross amount')
    .option('--max-amount <amount>', 'Maximum gross amount')
    .option('--end-to-end-id <id>', 'Filter by end-to-end id')
    .option('--bank-id <id>', "Filter by the payer's bank")
  return ofMerchants(command)
}

const text = z.string().optional()

export const FilterOptions = TimeRange.extend({
  ...MerchantScope.shape,
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

/** The same for an operator; undefined where a merchant means its own. */
export async function adminFilterOf(
  client: Client,
  options: z.infer<typeof FilterOptions>,
): Promise<(Filter & { merchant_id?: string }) | undefined> {
  const { merchant, allMerchants } = options
  const filter = filterOf(options)
  if (!(await meansAllMerchants(client, allMerchants || merchant !== undefined))) return undefined
  return merchant === undefined
    ? filter
    : { ...filter, merchant_id: (await findMerchant(client, [merchant])).merchant.id }
}
