import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PayoutStatus } from '../../src/wire/payouts.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { forAllMerchants, subcommand } from '../kit/option-values.ts'
import { Paging, TimeRange, listPages, paged, rangeOf, withTimeRange } from '../kit/paging.ts'
import { MerchantScope, ofMerchants, scopeOf } from '../merchants/whose.ts'
import { addAccounts } from './accounts.ts'
import { FILE_REFUND_ACTIONS, PAYOUT_ACTIONS } from './actions.ts'
import { addFileCommands } from './files.ts'
import { findPayout, payout, payoutPage } from './subject.ts'
import { printPayout, printPayouts } from './view.ts'

/** `svc payouts`: what merchants are paid. Merchants see their own. */
export function addPayouts(payouts: Command, runtime: Runtime): void {
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
  addActions(payouts, runtime, [...PAYOUT_ACTIONS, ...FILE_REFUND_ACTIONS])
  addFileCommands(payouts, runtime)
  addAccounts(payouts, runtime)
}

const ListOptions = Paging.extend({
  ...TimeRange.shape,
  ...MerchantScope.shape,
  currency: z.string().optional(),
  status: PayoutStatus.optional(),
})
const ShowOptions = z.object({ allMerchants: z.boolean().default(false) })

async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const client = context.client()
  const filter = { ...rangeOf(options), currency: options.currency?.toUpperCase(), status: options.status }
  const scope = await scopeOf(client, options)
  const isOfAll = scope !== undefined
  const read = (page: object) => payoutPage(client, isOfAll, { ...filter, ...scope, ...page })
  await listPages(context, options, read, (rows) => printPayouts(context, rows, isOfAll))
}

async function show(
  context: Context,
  { args: [given = ''], options }: InputOf<typeof ShowOptions>,
): Promise<CommandResult> {
  const client = context.client()
  printPayout(context, await findPayout(client, given, await meansAllMerchants(client, options.allMerchants)))
}
