import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import {
  SettlementLine,
  getSettlement,
  getSettlementSchedule,
  listAdminSettlements,
  listSettlementLines,
  listSettlements,
} from '../../src/wire/settlements.ts'
import type { Settlement } from '../../src/wire/settlements.ts'
import { parseTime } from '../base/times.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { collectPages, rowsOf } from '../client/pages.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { Paging, TimeRange, paged, withTimeRange } from '../kit/paging.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { findMerchant } from '../merchants/find.ts'
import { MerchantScope, ofMerchants } from '../merchants/whose.ts'
import { SETTLEMENT_ACTIONS } from './actions.ts'
import { printLines, printSchedule, printSettlement, printSettlements } from './view.ts'
import { subcommand } from '../kit/option-values.ts'

// How far back a part of an id is looked for.
const PAGES_MAX = 10
const WHICH = 'Its id, or at least its last 8 characters'

/** `svc settlements`: what a merchant is owed, period by period. */
export function addSettlements(settlements: Command, runtime: Runtime): void {
  const listing = settlements
    .command('list')
    .description('List settlements, last period first')
    .optionsGroup('Filters:')
  withTimeRange(listing, 'Period ended')
    .option('--currency <code>', 'Filter by currency')
    .addOption(new Option('--status <status>', 'Filter by status').choices(['CLOSED', 'PAID_OUT']))
  paged(ofMerchants(listing))
    .addHelpText(
      'after',
      '\nExamples:\n  svc settlements list --since 30d\n  svc settlements list --merchant acme-ltd -o csv\n',
    )
    .action(action(runtime, ListOptions, list))
  subcommand(settlements, 'show', 'Show a settlement')
    .argument('<settlement>', WHICH)
    .addHelpText('after', '\nExamples:\n  svc settlements show a2b4358c\n')
    .action(action(runtime, z.object({}), show))
  paged(subcommand(settlements, 'lines', 'List the lines of a settlement').argument('<settlement>', WHICH))
    .addHelpText('after', '\nExamples:\n  svc settlements lines a2b4358c\n')
    .action(action(runtime, Paging, lines))
  subcommand(settlements, 'export', 'Export the lines of a settlement as CSV or JSON')
    .argument('<settlement>', WHICH)
    .option('--file <path>', 'Output file, written once it is complete (- or none: standard output)')
    .option('--force', 'Overwrite an existing file')
    .addHelpText(
      'after',
      '\nFetches every page.\n\nExamples:\n  svc settlements export a2b4358c > lines.csv\n  svc settlements export a2b4358c -o jsonl | jq .amount\n',
    )
    .action(action(runtime, ExportTarget, exportLines))
  settlements
    .command('schedule')
    .helpCommand(false)
    .description('Show and set when periods are settled')
    .command('show')
    .description('Show when periods are settled')
    .addHelpText('after', '\nExamples:\n  svc settlements schedule show\n')
    .action(action(runtime, z.object({}), showSchedule))
  addActions(settlements, runtime, SETTLEMENT_ACTIONS)
}

const ListOptions = Paging.extend({
  ...TimeRange.shape,
  ...MerchantScope.shape,
  currency: z.string().optional(),
  status: z.enum(['CLOSED', 'PAID_OUT']).optional(),
})

async function list(context: Context, { options }: CommandInput<z.infer<typeof ListOptions>>): Promise<CommandResult> {
  const { since, until, currency, status, merchant, allMerchants } = options
  const client = context.client()
  const filter = {
    ...(since === undefined ? {} : { from: parseTime(since, '--since').slice(0, 10) }),
    ...(until === undefined ? {} : { to: parseTime(until, '--until').slice(0, 10) }),
    ...(currency === undefined ? {} : { currency: currency.toUpperCase() }),
    ...(status === undefined ? {} : { status }),
  }
  const isOfAll = await meansAllMerchants(client, allMerchants || merchant !== undefined)
  const one = merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }
  const { items, nextCursor } = await collectPages(options, async (page) =>
    isOfAll
      ? (await call(client, listAdminSettlements, { query: { ...filter, ...one, ...page } })).body
      : (await call(client, listSettlements, { query: { ...filter, ...page } })).body,
  )
  printSettlements(context, items, isOfAll)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

/** @throws {CliError} exit code 6 where the merchant has no such settlement */
async function findSettlement(client: Client, given: string): Promise<Settlement> {
  const id = await resolveId(given, 'settlement', async function* ids() {
    const pages = rowsOf(async (query) => (await call(client, listSettlements, { query })).body, PAGES_MAX)
    for await (const { settlement_id } of pages) yield settlement_id
  })
  return (await call(client, getSettlement, { params: { id } })).body
}

async function show(context: Context, { args: [given = ''] }: CommandInput<object>): Promise<CommandResult> {
  printSettlement(context, await findSettlement(context.client(), given))
}

async function lines(context: Context, { args: [given = ''], options }: CommandInput<Paging>): Promise<CommandResult> {
  const client = context.client()
  const { settlement_id: id } = await findSettlement(client, given)
  const { items, nextCursor } = await collectPages(options, async (query) => {
    return (await call(client, listSettlementLines, { params: { id }, query })).body
  })
  printLines(context, items)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

async function exportLines(
  context: Context,
  { args: [given = ''], options }: CommandInput<ExportTarget>,
): Promise<CommandResult> {
  const { settlement_id: id } = await findSettlement(context.client(), given)
  await exportPages(context, options, {
    columns: Object.keys(SettlementLine.shape),
    noun: 'line',
    instead: 'svc settlements lines --all',
    read: async (client, query) => (await call(client, listSettlementLines, { params: { id }, query })).body,
  })
}

async function showSchedule(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  printSchedule(context, (await call(context.client(), getSettlementSchedule, {})).body)
}
