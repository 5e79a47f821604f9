import { open, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { csvOf } from '../../../src/lib/csv.ts'
import { Transaction, listTransactions } from '../../../src/wire/ledger.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { CliError, usageError } from '../../errors.ts'
import { EXIT } from '../../exit-codes.ts'
import type { Printer } from '../../output.ts'
import { PAGE_SIZE_MAX } from '../../pages.ts'
import { targetFile } from '../../target-file.ts'
import { FilterOptions, filterOf } from '../payments/filters.ts'
import type { Filter } from '../payments/filters.ts'

export const ExportOptions = FilterOptions.extend({
  file: z.string().min(1, 'must name a file').optional(),
  force: z.boolean().default(false),
})

/** How many lines go by between two words about it. */
const TOLD_EVERY = 1_000

type Write = (text: string) => Promise<void> | void

/** A form of the export: a page of rows, the first with what stands before them all, and what stands behind. */
type Form = { page(rows: readonly Transaction[], isFirst: boolean): string; after: string }

/** Writes every page as it comes, so that a ledger of any length fits. */
export async function exportAll(
  context: Context,
  { options }: CommandInput<z.infer<typeof ExportOptions>>,
): Promise<CommandResult> {
  const filter = filterOf(options)
  const form = formOf(context.print)
  const { io } = context
  if (options.file === undefined) {
    const count = await writePages(context, { filter, form, write: (text) => io.stdout.write(text) })
    context.note(`Exported ${linesText(count)}.`)
    return undefined
  }
  const path = targetFile(io.cwd, options.file, options)
  const count = await writeFile(path, (write) => writePages(context, { filter, form, write }))
  context.note(`Exported ${linesText(count)} to ${options.file}.`)
  return undefined
}

/** CSV for the books, unless JSON is asked for; other forms can't be written page by page. */
function formOf({ mode, header, isPartial }: Printer): Form {
  if (isPartial)
    throw usageError('an export has whole rows: no --query, and no members with --json', 'svc ledger list --all')
  if (mode === 'jsonl') return { page: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''), after: '' }
  if (mode === 'json')
    return {
      page: (rows, isFirst) => `${isFirst ? '[' : ','}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`,
      after: '\n]\n',
    }
  if (mode !== 'table' && mode !== 'csv')
    throw usageError(`an export is csv, json or jsonl, not ${mode}`, `svc ledger list --all -o ${mode}`)
  const columns = Object.keys(Transaction.shape)
  return {
    page: (rows, isFirst) => csvOf(rows, columns, { header: isFirst && header, lineEnd: '\r\n' }),
    after: '',
  }
}

/** Only a whole export takes the file's name: a half one would look like a ledger too. */
async function writeFile(path: string, fill: (write: Write) => Promise<number>): Promise<number> {
  const partial = `${path}.partial`
  const file = await open(partial, 'w', 0o600).catch((error: unknown) => refuseFile(path, error))
  try {
    const count = await fill(async (text) => void (await file.write(text)))
    await file.close()
    await rename(partial, path)
    return count
  } catch (error) {
    await file.close()
    await rm(partial, { force: true })
    throw error
  }
}

function refuseFile(path: string, cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause)
  throw new CliError('FILE_NOT_WRITTEN', `${path} can't be written: ${why}`, { exit: EXIT.usage, cause })
}

type Job = { filter: Filter; form: Form; write: Write }

async function writePages(context: Context, { filter, form, write }: Job): Promise<number> {
  let count = 0
  for await (const rows of pagesOf(context.client(), filter)) {
    await write(form.page(rows, count === 0))
    // Whoever read it has gone: there is nobody to go on for.
    if (context.io.stdout.isGone === true) break
    if (Math.floor(count / TOLD_EVERY) < Math.floor((count + rows.length) / TOLD_EVERY))
      context.note(`${linesText(count + rows.length)} so far`)
    count += rows.length
  }
  await write(form.after)
  return count
}

async function* pagesOf(client: Client, filter: Filter): AsyncGenerator<Transaction[]> {
  let cursor: string | null = null
  do {
    const query: Filter & { limit: number; cursor?: string } = {
      ...filter,
      limit: PAGE_SIZE_MAX,
      ...(cursor === null ? {} : { cursor }),
    }
    const { body } = await call(client, listTransactions, { query })
    yield body.data
    cursor = body.has_more ? body.next_cursor : null
  } while (cursor !== null)
}

function linesText(count: number): string {
  return `${count} payment${count === 1 ? '' : 's'}`
}
