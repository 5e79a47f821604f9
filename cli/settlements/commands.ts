import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import {
  SettlementLine,
  getSettlementSchedule,
  listAdminSettlementLines,
  listSettlementLines,
} from '../../src/wire/settlements.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { forAllMerchants, subcommand } from '../kit/option-values.ts'
import { Paging, TimeRange, daysOf, listPages, paged, withTimeRange } from '../kit/paging.ts'
import { MerchantScope, ofMerchants, scopeOf } from '../merchants/whose.ts'
import { SETTLEMENT_ACTIONS } from './actions.ts'
import { findSettlement, settlementPage } from './find.ts'
import { printLines, printSchedule, printSettlement, printSettlements } from './view.ts'

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
  const ofOne = (name: string, summary: string): Command =>
    forAllMerchants(subcommand(settlements, name, summary).argument('<settlement>', WHICH))
  ofOne('show', 'Show a settlement')
    .addHelpText('after', '\nExamples:\n  svc settlements show a2b4358c\n')
    .action(action(runtime, Scope, show))
  paged(ofOne('lines', 'List the lines of a settlement'))
    .addHelpText('after', '\nExamples:\n  svc settlements lines a2b4358c\n')
    .action(action(runtime, LinesOptions, lines))
  ofOne('export', 'Export the lines of a settlement as CSV or JSON')
    .option('--file <path>', 'Output file, written once it is complete (- or none: standard output)')
    .option('--force', 'Overwrite an existing file')
    .addHelpText(
      'after',
      '\nFetches every page.\n\nExamples:\n  svc settlements export a2b4358c > lines.csv\n  svc settlements export a2b4358c -o jsonl | jq .amount\n',
    )
    .action(action(runtime, ExportOptions, exportLines))
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

const Scope = z.object({ allMerchants: z.boolean().default(false) })
const LinesOptions = Paging.extend(Scope.shape)
const ExportOptions = ExportTarget.extend(Scope.shape)
const ListOptions = Paging.extend({
  ...TimeRange.shape,
  ...MerchantScope.shape,
  currency: z.string().optional(),
  status: z.enum(['CLOSED', 'PAID_OUT']).optional(),
})

async function list(context: Context, { options }: CommandInput<z.infer<typeof ListOptions>>): Promise<CommandResult> {
  const client = context.client()
  const filter = { ...daysOf(options), currency: options.currency?.toUpperCase(), status: options.status }
  const scope = await scopeOf(client, options)
  const isOfAll = scope !== undefined
  const read = (page: object) => settlementPage(client, isOfAll, { ...filter, ...scope, ...page })
  await listPages(context, options, read, (rows) => printSettlements(context, rows, isOfAll))
}

type Of = CommandInput<z.infer<typeof Scope>>

async function show(context: Context, { args: [given = ''], options }: Of): Promise<CommandResult> {
  printSettlement(context, (await found(context, given, options)).settlement)
}

async function lines(
  context: Context,
  { args: [given = ''], options }: CommandInput<z.infer<typeof LinesOptions>>,
): Promise<CommandResult> {
  const { read } = await found(context, given, options)
  const ofPage: PageReader<SettlementLine> = (query) => read(context.client(), query)
  await listPages(context, options, ofPage, (rows) => printLines(context, rows))
}

async function exportLines(
  context: Context,
  { args: [given = ''], options }: CommandInput<z.infer<typeof ExportOptions>>,
): Promise<CommandResult> {
  const { read } = await found(context, given, options)
  const columns = Object.keys(SettlementLine.shape)
  await exportPages(context, options, { columns, noun: 'line', instead: 'svc settlements lines --all', read })
}

/** A settlement, and what reads its lines. */
async function found(context: Context, given: string, { allMerchants }: z.infer<typeof Scope>) {
  const client = context.client()
  const isOfAll = await meansAllMerchants(client, allMerchants)
  const settlement = await findSettlement(client, given, isOfAll)
  const params = { id: settlement.settlement_id }
  const list = isOfAll ? listAdminSettlementLines : listSettlementLines
  const read = async (by: Client, query: { limit?: number; cursor?: string }) =>
    (await call(by, list, { params, query })).body
  return { settlement, read }
}

async function showSchedule(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  printSchedule(context, (await call(context.client(), getSettlementSchedule, {})).body)
}
