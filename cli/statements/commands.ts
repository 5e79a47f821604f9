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
import { readBankFile } from '../kit/bank-file.ts'
import { CHANGING, change } from '../kit/change.ts'
import { command, grouped, argument } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { timeRange, daysOf, londonDay } from '../kit/paging.ts'
import { reading } from '../kit/reading.ts'
import { STATEMENT_ACTIONS } from './actions.ts'
import { LINE_VIEW, MOVEMENT_VIEW, STATEMENT_VIEW } from './view.ts'

const list = reading({
  command: 'statements list',
  summary: 'List imported statements, newest first',
  examples: ['svc statements list'],
  flags: {},
  operation: listStatements,
  view: STATEMENT_VIEW,
})

const lines = reading({
  command: 'statements lines',
  summary: 'List lines of statements, last booked first',
  examples: ['svc statements lines --state unmatched', 'svc statements lines --since 7d -o csv'],
  flags: grouped('Filters:', {
    state: { value: 'state', summary: 'Filter by state', choices: ['matched', 'unmatched'] },
    statement: { value: 'id', summary: 'Filter by statement' },
    payment: { value: 'id', summary: 'Filter by payment' },
    ...timeRange('Booked'),
  }),
  operation: listStatementLines,
  request: ({ state, statement: statement_id, payment: payment_id, ...range }) => ({
    query: { ...daysOf(range), state, statement_id, payment_id },
  }),
  view: LINE_VIEW,
})

const missing = reading({
  command: 'statements missing',
  summary: 'List payments, refunds and payouts that no statement has',
  examples: ['svc statements missing --since 7d'],
  flags: grouped('Filters:', timeRange('Created')),
  operation: listUnmatchedMovements,
  request: ({ since = '7d', until = new Date().toISOString() }) => ({
    query: { from: londonDay(parseTime(since, '--since')), to: londonDay(parseTime(until, '--until')) },
  }),
  view: MOVEMENT_VIEW,
})

const CSV_MEMBERS = ['date', 'amount', 'credit', 'debit', 'currency', 'reference', 'end_to_end_id', 'bank_reference']

const CSV = grouped('CSV files:', {
  columns: { value: 'map', summary: 'Which column has what: date=Date,amount=Amount' },
  account: { value: 'number', summary: 'Account that the file is of' },
  currency: { value: 'code', summary: 'Currency of the account, such as GBP' },
  dateFormat: { value: 'format', summary: 'How dates are written', choices: DATE_FORMATS },
})

/** `svc statements import`: a second import of a file changes nothing, so it is safe to repeat. */
const importing = command({
  command: 'statements import',
  summary: "Import a bank's statement file and match its lines",
  examples: [
    'svc statements import november.xml',
    'svc statements import november.csv --account 20-20-15-55555555 --currency GBP --date-format DD/MM/YYYY --columns "date=Date,credit=Paid in,debit=Paid out,reference=Details"',
  ],
  flags: {
    file: argument('file', 'File of the bank: camt.053, camt.054 or CSV'),
    ...CHANGING,
    ...CSV,
  },
  async run(context, input) {
    const content = await readBankFile(context, input.file)
    const csv = csvOf(input)
    const body = { content, csv }
    const outcome = await change(context, context.client(), importStatements, { input: { body }, options: input })
    if (outcome === undefined) return undefined
    context.print.list(outcome.statements, STATEMENT_VIEW)
    const { new_line_count: fresh, known_line_count: known, matched_line_count: matched } = outcome
    context.note(`${fresh} new, ${known} known before; ${matched} matched now`)
    if (outcome.unmatched_line_count > 0)
      context.note(`${outcome.unmatched_line_count} not matched yet: svc statements lines --state unmatched`)
    if (outcome.returned_refund_count > 0)
      context.note(`${outcome.returned_refund_count} came back as returned refunds: svc inbox`)
  },
})

type Csv = Exclude<z.infer<(typeof importStatements)['body']>['csv'], undefined>

/** How a CSV file is read, where any of its options is given. */
function csvOf({ columns, account, currency, dateFormat }: Input<typeof CSV>): Csv | undefined {
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

export const STATEMENTS = [
  {
    command: 'statements',
    examples: [
      'svc statements import november.xml',
      'svc statements lines --state unmatched',
      'svc statements missing --since 7d',
    ],
  },
  importing,
  list,
  lines,
  missing,
  ...STATEMENT_ACTIONS,
]
