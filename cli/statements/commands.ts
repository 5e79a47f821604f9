import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DATE_FORMATS, listStatementLines, listStatements, listUnmatchedMovements } from '../../src/wire/statements.ts'
import { parseTime } from '../base/times.ts'
import { call } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import { addActions } from '../kit/action-command.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { Paging, TimeRange, paged, withTimeRange } from '../kit/paging.ts'
import { STATEMENT_ACTIONS } from './actions.ts'
import { CSV_EXAMPLE, ImportOptions, importFile } from './import.ts'
import { printLines, printMovements, printStatements } from './view.ts'
import { subcommand } from '../kit/option-values.ts'

export function addStatements(statements: Command, runtime: Runtime): void {
  statements.addHelpText(
    'after',
    '\nExamples:\n  svc statements import november.xml\n  svc statements lines --state unmatched\n  svc statements missing --since 7d\n',
  )
  changing(statements.command('import').argument('<file>', 'File of the bank: camt.053, camt.054 or CSV'))
    .description("Import a bank's statement file and match its lines")
    .optionsGroup('CSV files:')
    .option('--columns <map>', 'Which column has what: date=Date,amount=Amount')
    .option('--account <number>', 'Account that the file is of')
    .option('--currency <code>', 'Currency of the account, such as GBP')
    .addOption(new Option('--date-format <format>', 'How dates are written').choices(DATE_FORMATS))
    .addHelpText('after', `\nExamples:\n  svc statements import november.xml\n  ${CSV_EXAMPLE}\n`)
    .action(action(runtime, ImportOptions, importFile))
  paged(subcommand(statements, 'list', 'List imported statements, newest first'))
    .addHelpText('after', '\nExamples:\n  svc statements list\n')
    .action(action(runtime, Paging, list))
  const lines = subcommand(statements, 'lines', 'List lines of statements, last booked first')
  lines
    .optionsGroup('Filters:')
    .addOption(new Option('--state <state>', 'Filter by state').choices(['matched', 'unmatched']))
    .option('--statement <id>', 'Filter by statement')
    .option('--payment <id>', 'Filter by payment')
  paged(withTimeRange(lines, 'Booked'))
    .addHelpText(
      'after',
      '\nExamples:\n  svc statements lines --state unmatched\n  svc statements lines --since 7d -o csv\n',
    )
    .action(action(runtime, LinesOptions, listLines))
  const missing = subcommand(statements, 'missing', 'List payments, refunds and payouts that no statement has')
  paged(withTimeRange(missing.optionsGroup('Filters:'), 'Created'))
    .addHelpText('after', '\nExamples:\n  svc statements missing --since 7d\n')
    .action(action(runtime, MissingOptions, listMissing))
  addActions(statements, runtime, STATEMENT_ACTIONS)
}

const MissingOptions = Paging.extend(TimeRange.shape)
const LinesOptions = MissingOptions.extend({
  state: z.enum(['matched', 'unmatched']).optional(),
  statement: z.string().optional(),
  payment: z.string().optional(),
})

async function list(context: Context, { options }: CommandInput<Paging>): Promise<CommandResult> {
  const { items, nextCursor } = await collectPages(options, async (query) => {
    return (await call(context.client(), listStatements, { query })).body
  })
  printStatements(context, items)
  noteMore(context, nextCursor)
}

async function listLines(context: Context, { options }: InputOf<typeof LinesOptions>): Promise<CommandResult> {
  const { state, statement, payment } = options
  const filter = {
    ...daysOf(options),
    ...(state === undefined ? {} : { state }),
    ...(statement === undefined ? {} : { statement_id: statement }),
    ...(payment === undefined ? {} : { payment_id: payment }),
  }
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(context.client(), listStatementLines, { query: { ...filter, ...page } })).body
  })
  printLines(context, items)
  noteMore(context, nextCursor)
}

async function listMissing(context: Context, { options }: InputOf<typeof MissingOptions>): Promise<CommandResult> {
  const { from = dayOf('7d', '--since'), to = new Date().toISOString().slice(0, 10) } = daysOf(options)
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(context.client(), listUnmatchedMovements, { query: { from, to, ...page } })).body
  })
  printMovements(context, items)
  noteMore(context, nextCursor)
}

/** Banks book by the day, and both ends are part of it. */
function daysOf({ since, until }: TimeRange): { from?: string; to?: string } {
  return {
    ...(since === undefined ? {} : { from: dayOf(since, '--since') }),
    ...(until === undefined ? {} : { to: dayOf(until, '--until') }),
  }
}

function dayOf(time: string, flag: string): string {
  return parseTime(time, flag).slice(0, 10)
}

function noteMore(context: Context, nextCursor: string | null): void {
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}
