import { z } from 'zod'
import { DATE_FORMATS, importStatements } from '../../src/wire/statements.ts'
import { usageError } from '../base/errors.ts'
import { readBankFile } from '../kit/bank-file.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { printStatements } from './view.ts'

const CSV_MEMBERS = ['date', 'amount', 'credit', 'debit', 'currency', 'reference', 'end_to_end_id', 'bank_reference']

export const ImportOptions = ChangeOptions.omit({ yes: true }).extend({
  columns: z.string().optional(),
  account: z.string().optional(),
  currency: z.string().optional(),
  dateFormat: z.enum(DATE_FORMATS).optional(),
})
type ImportOptions = z.infer<typeof ImportOptions>

/** `svc statements import`: a second import of a file changes nothing, so it is safe to repeat. */
export async function importFile(
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

export const CSV_EXAMPLE =
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
