import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DATE_FORMATS, listStatementLines, listStatements, listUnmatchedMovements } from '../../src/wire/statements.ts'
import { parseTime } from '../base/times.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { Paging, TimeRange, daysOf, listPages, paged, withTimeRange } from '../kit/paging.ts'
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
  await listPages(
    context,
    options,
    async (query) => (await call(context.client(), listStatements, { query })).body,
    (rows) => printStatements(context, rows),
  )
}

async function listLines(context: Context, { options }: InputOf<typeof LinesOptions>): Promise<CommandResult> {
  const { state, statement, payment } = options
  const filter = { ...daysOf(options), state, statement_id: statement, payment_id: payment }
  await listPages(
    context,
    options,
    async (page) => (await call(context.client(), listStatementLines, { query: { ...filter, ...page } })).body,
    (rows) => printLines(context, rows),
  )
}

async function listMissing(context: Context, { options }: InputOf<typeof MissingOptions>): Promise<CommandResult> {
  const { since = '7d', until = new Date().toISOString() } = options
  const days = { from: parseTime(since, '--since').slice(0, 10), to: parseTime(until, '--until').slice(0, 10) }
  await listPages(
    context,
    options,
    async (page) => (await call(context.client(), listUnmatchedMovements, { query: { ...days, ...page } })).body,
    (rows) => printMovements(context, rows),
  )
}
