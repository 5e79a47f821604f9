import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PayoutStatus } from '../../src/wire/payouts.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { collectPages } from '../client/pages.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { forAllMerchants, subcommand } from '../kit/option-values.ts'
import { Paging, TimeRange, paged, rangeOf, withTimeRange } from '../kit/paging.ts'
import { findMerchant } from '../merchants/find.ts'
import { MerchantScope, ofMerchants } from '../merchants/whose.ts'
import { findPayout, payout, payoutPage } from './subject.ts'
import { printPayout, printPayouts } from './view.ts'

/** Commands that show payouts, to merchants their own. */
export function addReading(payouts: Command, runtime: Runtime): void {
  const listing = subcommand(payouts, 'list', 'List payouts, newest first').optionsGroup('Filters:')
  withTimeRange(listing, 'Created')
    .option('--currency <code>', 'Filter by currency')
    .addOption(new Option('--status <status>', 'Filter by status').choices(PayoutStatus.options))
  paged(ofMerchants(listing))
    .addHelpText(
      'after',
      '\nExamples:\n  svc payouts list --since 30d\n  svc payouts list --status FAILED --all-merchants\n',
    )
    .action(action(runtime, ListOptions, list))
  forAllMerchants(subcommand(payouts, 'show', 'Show a payout').argument('<payout>', payout.summary))
    .addHelpText('after', '\nExamples:\n  svc payouts show a2b4358c\n')
    .action(action(runtime, ShowOptions, show))
}

const ListOptions = Paging.extend({
  ...TimeRange.shape,
  ...MerchantScope.shape,
  currency: z.string().optional(),
  status: PayoutStatus.optional(),
})
const ShowOptions = z.object({ allMerchants: z.boolean().default(false) })

async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const { currency, status, merchant, allMerchants, ...range } = options
  const client = context.client()
  const filter = {
    ...rangeOf(range),
    ...(currency === undefined ? {} : { currency: currency.toUpperCase() }),
    ...(status === undefined ? {} : { status }),
  }
  const isOfAll = await meansAllMerchants(client, allMerchants || merchant !== undefined)
  const one = merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }
  const { items, nextCursor } = await collectPages(options, (page) =>
    payoutPage(client, isOfAll, { ...filter, ...one, ...page }),
  )
  printPayouts(context, items, isOfAll)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

async function show(
  context: Context,
  { args: [given = ''], options }: InputOf<typeof ShowOptions>,
): Promise<CommandResult> {
  const client = context.client()
  printPayout(context, await findPayout(client, given, await meansAllMerchants(client, options.allMerchants)))
}
