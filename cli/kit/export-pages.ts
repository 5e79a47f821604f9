import { z } from 'zod'
import { csvOf } from '../../src/lib/csv.ts'
import type { Client } from '../client/call.ts'
import type { Context } from './context.ts'
import { usageError } from '../base/errors.ts'
import type { Printer } from '../output/output.ts'
import { PAGE_SIZE_MAX } from '../client/pages.ts'
import type { Page } from '../client/pages.ts'
import { withProgress } from '../output/progress.ts'
import type { Progress } from '../output/progress.ts'
import { targetFile } from '../output/target-file.ts'
import { writeTarget } from './export-target.ts'
import type { Write } from './export-target.ts'
import { isStillRead } from '../output/flush.ts'

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
  read(client: Client, page: { limit: number; cursor?: string }): Promise<Page<Row>>
}

/** How many lines go by between two words about it. */
const TOLD_EVERY = 1_000

/** A form of the export: a page of rows, the first with what stands before them all, and what stands behind. */
type Form = { page(rows: readonly unknown[], isFirst: boolean): string; after: string }

/** Writes every page as it comes, so that a list of any length fits. */
export async function exportPages<Row>(context: Context, target: ExportTarget, wanted: Export<Row>): Promise<void> {
  const form = formOf(context.print, wanted)
  const { io } = context
  const file = targetFile(io.cwd, target.file, target)
  if (file === undefined) return toStdout(context, wanted, form)
  const count = await writeTarget(file, context.client(), (write, client) =>
    writePages(context, wanted, { client, form, isHidden: false, write, isRead: async () => true }),
  )
  context.note(`Exported ${linesText(count, wanted)} to ${file.named}.`)
}

/** Whoever reads it may go, as `head` does: then there is nobody to go on for, and nothing to tell. */
async function toStdout<Row>(context: Context, wanted: Export<Row>, form: Form): Promise<void> {
  const { io } = context
  const count = await writePages(context, wanted, {
    client: context.client(),
    form,
    isHidden: io.stdout.isTTY,
    write: async (text) => io.stdout.write(text),
    isRead: () => isStillRead(io),
  })
  if (await isStillRead(io)) context.note(`Exported ${linesText(count, wanted)}.`)
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

type Job = { client: Client; form: Form; write: Write; isRead(): Promise<boolean> }

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
  { client, form, write, isRead, progress }: Job & { progress: Progress },
): Promise<number> {
  let count = 0
  for await (const rows of pagesOf(client, wanted)) {
    await write(form.page(rows, count === 0))
    if (!(await isRead())) return count
    const isThousand = Math.floor(count / TOLD_EVERY) < Math.floor((count + rows.length) / TOLD_EVERY)
    if (isThousand && !progress.isShown) context.note(`${linesText(count + rows.length, wanted)} so far`)
    count += rows.length
    progress.at(count)
  }
  await write(form.after)
  return count
}

async function* pagesOf<Row>(client: Client, { read }: Export<Row>): AsyncGenerator<Row[]> {
  let cursor: string | null = null
  do {
    const body: Page<Row> = await read(client, { limit: PAGE_SIZE_MAX, ...(cursor === null ? {} : { cursor }) })
    yield body.data
    cursor = body.has_more ? body.next_cursor : null
  } while (cursor !== null)
}

function linesText(count: number, { noun }: Pick<Export<unknown>, 'noun'>): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
