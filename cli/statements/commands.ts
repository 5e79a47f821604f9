import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import {
  DATE_FORMATS,
  listStatementLines,
  listStatements,
  listUnmatchedMovements,
  importStatements,
} from '../../src/wire/statements.ts'
import { usageError } from '../base/errors.ts'
import { parseTime } from '../base/times.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { readBankFile } from '../kit/bank-file.ts'
import { changing, ChangeOptions, change } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { subcommand } from '../kit/option-values.ts'
import { Paging, TimeRange, daysOf, listPages, paged, withTimeRange } from '../kit/paging.ts'
import { STATEMENT_ACTIONS } from './actions.ts'
import { printLines, printMovements, printStatements } from './view.ts'

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

const CSV_MEMBERS = ['date', 'amount', 'credit', 'debit', 'currency', 'reference', 'end_to_end_id', 'bank_reference']

const ImportOptions = ChangeOptions.omit({ yes: true }).extend({
  columns: z.string().optional(),
  account: z.string().optional(),
  currency: z.string().optional(),
  dateFormat: z.enum(DATE_FORMATS).optional(),
})
type ImportOptions = z.infer<typeof ImportOptions>

/** `svc statements import`: a second import of a file changes nothing, so it is safe to repeat. */
async function importFile(
  context: Context,
  { args: [file = ''], options }: CommandInput<ImportOptions>,
): Promise<CommandResult> {
  const content = await readBankFile(context, file)
  const csv = csvOf(options)
  const body = { content, csv }
  const outcome = await change(context, context.client(), importStatements, { input: { body }, options })
  if (outcome === undefined) return undefined
  printStatements(context, outcome.statements)
  const { new_line_count: fresh, known_line_count: known, matched_line_count: matched } = outcome
  context.note(`${fresh} new, ${known} known before; ${matched} matched now`)
  if (outcome.unmatched_line_count > 0)
    context.note(`${outcome.unmatched_line_count} not matched yet: svc statements lines --state unmatched`)
  if (outcome.returned_refund_count > 0)
    context.note(`${outcome.returned_refund_count} came back as returned refunds: svc inbox`)
}

type Csv = Exclude<z.infer<(typeof importStatements)['body']>['csv'], undefined>

/** How a CSV file is read, where any of its options is given. */
function csvOf({ columns, account, currency, dateFormat }: ImportOptions): Csv | undefined {
  const given = [columns, account, currency, dateFormat].filter((option) => option !== undefined)
  if (given.length === 0) return undefined
  if (columns === undefined || account === undefined || currency === undefined)
    throw usageError('a CSV file needs --columns, --account and --currency', CSV_EXAMPLE)
  return { columns: columnsOf(columns), account, currency, date_format: dateFormat ?? 'YYYY-MM-DD' }
}

const CSV_EXAMPLE =
  'svc statements import november.csv --account 20-20-15-55555555 --currency GBP --date-format DD/MM/YYYY --columns "date=Date,credit=Paid in,debit=Paid out,reference=Details"'

/** `date=Date,amount=Amount` as the request has it. */
function columnsOf(text: string): Csv['columns'] {
  const pairs = text.split(',').map((pair): [string, string] => {
    const [member = '', ...name] = pair.split('=')
    if (CSV_MEMBERS.includes(member.trim()) && name.length > 0) return [member.trim(), name.join('=').trim()]
    throw usageError(
      `--columns: "${pair}" is not <what>=<column>; what there is: ${CSV_MEMBERS.join(', ')}`,
      CSV_EXAMPLE,
    )
  })
  return { date: '', ...Object.fromEntries(pairs) }
}
