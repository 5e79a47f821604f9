import { open, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { csvOf } from '../src/lib/csv.ts'
import type { Context } from './context.ts'
import { CliError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { Printer } from './output.ts'
import { PAGE_SIZE_MAX } from './pages.ts'
import type { Page } from './pages.ts'
import { withProgress } from './progress.ts'
import type { Progress } from './progress.ts'
import { targetFile } from './target-file.ts'

/** Where an export goes: the options of every command that has one. */
export const ExportTarget = z.object({
  file: z.string().min(1, 'must name a file').optional(),
  force: z.boolean().default(false),
})
export type ExportTarget = z.infer<typeof ExportTarget>

export type Export<Row> = {
  /** The members of a row, which are the columns of CSV. */
  columns: readonly string[]
  /** A word for one row; more of them have an s. */
  noun: string
  /** What shows the same in other forms. */
  instead: string
  read(page: { limit: number; cursor?: string }): Promise<Page<Row>>
}

/** How many lines go by between two words about it. */
const TOLD_EVERY = 1_000

type Write = (text: string) => Promise<void> | void

/** A form of the export: a page of rows, the first with what stands before them all, and what stands behind. */
type Form = { page(rows: readonly unknown[], isFirst: boolean): string; after: string }

/** Writes every page as it comes, so that a list of any length fits. */
export async function exportPages<Row>(context: Context, target: ExportTarget, wanted: Export<Row>): Promise<void> {
  const form = formOf(context.print, wanted)
  const { io } = context
  if (target.file === undefined) {
    const isHidden = io.stdout.isTTY
    const count = await writePages(context, wanted, { form, write: (text) => io.stdout.write(text), isHidden })
    return context.note(`Exported ${linesText(count, wanted)}.`)
  }
  const path = targetFile(io.cwd, target.file, target)
  const count = await writeFile(path, (write) => writePages(context, wanted, { form, write, isHidden: false }))
  context.note(`Exported ${linesText(count, wanted)} to ${target.file}.`)
}

/** CSV for the books, unless JSON is asked for; other forms can't be written page by page. */
function formOf(
  { mode, header, isPartial }: Printer,
  { columns, instead }: Pick<Export<unknown>, 'columns' | 'instead'>,
): Form {
  if (isPartial) throw usageError('an export has whole rows: no --query, and no members with --json', instead)
  if (mode === 'jsonl') return { page: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''), after: '' }
  if (mode === 'json')
    return {
      page: (rows, isFirst) => `${isFirst ? '[' : ','}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`,
      after: '\n]\n',
    }
  if (mode !== 'table' && mode !== 'csv')
    throw usageError(`an export is csv, json or jsonl, not ${mode}`, `${instead} -o ${mode}`)
  return {
    page: (rows, isFirst) => csvOf(rows, columns, { header: isFirst && header, lineEnd: '\r\n' }),
    after: '',
  }
}

/** Only a whole export takes the file's name: a half one would look like a whole one too. */
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

type Job = { form: Form; write: Write }

/** @param isHidden that the pages go to the terminal themselves */
function writePages<Row>(
  context: Context,
  wanted: Export<Row>,
  { isHidden, ...job }: Job & { isHidden: boolean },
): Promise<number> {
  return withProgress(context, { title: 'Exporting', unit: `${wanted.noun}s`, isHidden }, (progress) =>
    writeEach(context, wanted, { ...job, progress }),
  )
}

async function writeEach<Row>(
  context: Context,
  wanted: Export<Row>,
  { form, write, progress }: Job & { progress: Progress },
): Promise<number> {
  let count = 0
  for await (const rows of pagesOf(wanted)) {
    await write(form.page(rows, count === 0))
    // Whoever read it has gone: there is nobody to go on for.
    if (context.io.stdout.isGone === true) break
    const isThousand = Math.floor(count / TOLD_EVERY) < Math.floor((count + rows.length) / TOLD_EVERY)
    if (isThousand && !progress.isShown) context.note(`${linesText(count + rows.length, wanted)} so far`)
    count += rows.length
    progress.at(count)
  }
  await write(form.after)
  return count
}

async function* pagesOf<Row>({ read }: Export<Row>): AsyncGenerator<Row[]> {
  let cursor: string | null = null
  do {
    const body: Page<Row> = await read({ limit: PAGE_SIZE_MAX, ...(cursor === null ? {} : { cursor }) })
    yield body.data
    cursor = body.has_more ? body.next_cursor : null
  } while (cursor !== null)
}

function linesText(count: number, { noun }: Pick<Export<unknown>, 'noun'>): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
