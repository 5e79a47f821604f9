import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { csvOf } from '../../src/lib/csv.ts'
import { CliError, usageError, messageOf } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Client } from '../client/call.ts'
import { stoppable } from '../client/interruptible.ts'
import { pagesOf } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import { isStillRead } from '../output/flush.ts'
import type { Printer } from '../output/output.ts'
import { withProgress } from '../output/progress.ts'
import type { Progress } from '../output/progress.ts'
import { targetFile } from '../output/target-file.ts'
import type { Target } from '../output/target-file.ts'
import type { Flags } from './action.ts'
import type { Input } from './command.ts'
import type { Context } from './context.ts'
import { matching } from './read-values.ts'

/** Where an export goes: the flags of every command that has one. */
export const EXPORT_TARGET = {
  file: {
    value: 'path',
    summary: 'Output file, written once it is complete (- or none: standard output)',
    read: matching(/./, 'must name a file'),
  },
  force: { summary: 'Overwrite an existing file' },
} as const satisfies Flags
export type Export<Row> = {
  columns: readonly string[]
  /** A word for one row; more of them have an s. */
  noun: string
  /** What shows the same in other forms. */
  instead: string
  pages(client: Client): PageReader<Row>
}

const NOTED_EVERY = 1_000

/** A form of the export: a page of rows, the first with what stands before them all, and what stands behind. */
type Form = { page(rows: readonly unknown[], isFirst: boolean): string; after: string }

/** Writes every page as it comes, so that a list of any length fits. */
export async function exportPages<Row>(
  context: Context,
  target: Input<typeof EXPORT_TARGET>,
  wanted: Export<Row>,
): Promise<void> {
  const form = formOf(context.print, wanted)
  const { io } = context
  const file = targetFile(io.cwd, target.file, target)
  if (file === undefined) return toStdout(context, wanted, form)
  const count = await writeTarget(file, context.client(), (write, client) =>
    writePages(context, wanted, { client, form, isHidden: false, write, isRead: async () => true }),
  )
  context.note(`Exported ${linesText(count, wanted)} to ${file.named}.`)
}

/** The reader may go, as `head` does: that ends the export, and is no error. */
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
  for await (const rows of pagesOf(wanted.pages(client))) {
    // A page with a filter may be empty although more follow.
    if (rows.length === 0) continue
    await write(form.page(rows, count === 0))
    if (!(await isRead())) return count
    const isThousand = Math.floor(count / NOTED_EVERY) < Math.floor((count + rows.length) / NOTED_EVERY)
    if (isThousand && !progress.isShown) context.note(`${linesText(count + rows.length, wanted)} so far`)
    count += rows.length
    progress.at(count)
  }
  if (count === 0) await write(form.page([], true))
  await write(form.after)
  return count
}

function linesText(count: number, { noun }: Pick<Export<unknown>, 'noun'>): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export type Write = (text: string) => Promise<void>

/**
 * Writes what an export is: only a whole one takes the file's name, once it is on the disk and readable by its owner alone.
 * One that fails, or is interrupted, leaves what was there as it was, and nothing beside it.
 * @throws {CliError} FILE_NOT_WRITTEN, exit code 1, or 2 where it can't be begun; INTERRUPTED; and whatever `fill` throws
 */
export async function writeTarget<T>(
  target: Target,
  client: Client,
  fill: (write: Write, client: Client) => Promise<T>,
): Promise<T> {
  // A stream leaves nothing to clean up, so a signal ends the process at once, also while it waits for a reader.
  if (target.isStream) return intoStream(target, (write) => fill(write, client))
  return stoppable(client, (stopped) => intoFile(target, (write) => fill(write, stopped)))
}

async function intoFile<T>(target: Target, fill: (write: Write) => Promise<T>): Promise<T> {
  const { path } = target
  const draft = `${path}.${randomUUID()}`
  const file = await opened(target, open(draft, 'wx', 0o600))
  try {
    const result = await fill(writerOf(target, file))
    await orRefuse(target, EXIT.failure, file.sync())
    await orRefuse(target, EXIT.failure, rename(draft, path))
    return result
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function intoStream<T>(target: Target, fill: (write: Write) => Promise<T>): Promise<T> {
  const file = await opened(target, open(target.path, 'w'))
  try {
    return await fill(writerOf(target, file))
  } finally {
    await file.close()
  }
}

function opened(target: Target, file: Promise<FileHandle>): Promise<FileHandle> {
  return orRefuse(target, EXIT.usage, file)
}

function writerOf(target: Target, file: FileHandle): Write {
  return (text) => orRefuse(target, EXIT.failure, file.writeFile(text))
}

async function orRefuse<T>(
  { named }: Target,
  exit: typeof EXIT.usage | typeof EXIT.failure,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const why = messageOf(cause)
    throw new CliError('FILE_NOT_WRITTEN', `--file: can't write ${named}: ${why}`, { exit, cause })
  }
}
