import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import type { AuditRow } from '../../src/lib/audit-chain.ts'
import { AuditChain, EXPORT_LIMIT_MAX } from '../../src/wire/audit.ts'
import { usageError, messageOf } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { STDOUT } from '../output/target-file.ts'
import type { RowSource } from './rows.ts'
import { parsedJson } from '../base/json.ts'

export const NEW_EXPORT = 'svc audit export --file audit.jsonl'

const Counts = z.partialRecord(AuditChain, z.int().nonnegative())
type Counts = z.infer<typeof Counts>

const Line = z.union([
  z.strictObject({ chain: AuditChain, row: z.record(z.string(), z.string().nullable()) }),
  z.strictObject({ end: Counts }),
])
type Line = z.infer<typeof Line>

export function exportedLine(chain: AuditChain, row: AuditRow): string {
  return `${JSON.stringify({ chain, row })}\n`
}

/** The last line of an export. An empty file, and one that was cut off, has none. */
export function endLine(written: readonly { chain: AuditChain; rows: number }[]): string {
  return `${JSON.stringify({ end: Object.fromEntries(written.map(({ chain, rows }) => [chain, rows])) })}\n`
}

export type ExportedRows = {
  source: RowSource
  end(): Promise<{ incomplete: string | null; chains: readonly AuditChain[] }>
}

/** Checkpoints first: each seals rows that stand behind it. */
export const EXPORT_ORDER: readonly AuditChain[] = AUDIT_CHAINS.toReversed()

export function exportedRows(lines: AsyncIterable<string>, name: string): ExportedRows {
  const read = lineReader(lines, name)
  return {
    async *source(chain) {
      for (let rows = await nextPage(read, chain); rows.length > 0; rows = await nextPage(read, chain)) yield rows
    },
    async end() {
      while ((await read.peek()) !== undefined) read.take()
      return read.count()
    },
  }
}

type RowLine = Extract<Line, { row: unknown }>

/** Rows of the chain; what stands before it is passed over. */
async function nextPage(read: LineReader, chain: AuditChain): Promise<AuditRow[]> {
  const rows: AuditRow[] = []
  while (rows.length < EXPORT_LIMIT_MAX) {
    const line = await read.peek()
    if (line === undefined || EXPORT_ORDER.indexOf(line.chain) > EXPORT_ORDER.indexOf(chain)) break
    if (line.chain === chain) rows.push(line.row)
    read.take()
  }
  return rows
}

type LineReader = ReturnType<typeof lineReader>

function lineReader(lines: AsyncIterable<string>, name: string) {
  const iterator = lines[Symbol.asyncIterator]()
  const counts = new Map<AuditChain, number>()
  let number = 0
  let next: RowLine | undefined
  let last = -1
  let end: Counts | undefined

  async function parsed(): Promise<Line | undefined> {
    for (;;) {
      const { value: text, done } = await iterator.next()
      if (done === true) return undefined
      number += 1
      if (text === '') continue
      const line = Line.safeParse(parsedJson(text)).data
      if (line === undefined || end !== undefined)
        throw usageError(
          `--file: line ${number} of ${name} ${line ? 'is after the end' : 'is not a row'} of an export`,
          NEW_EXPORT,
        )
      return line
    }
  }

  function inOrder(line: RowLine): RowLine {
    const place = EXPORT_ORDER.indexOf(line.chain)
    if (place < last)
      throw usageError(
        `--file: line ${number} of ${name} is of ${line.chain}, and comes after ${EXPORT_ORDER[last]}: an export has them in another order`,
        NEW_EXPORT,
      )
    last = place
    counts.set(line.chain, (counts.get(line.chain) ?? 0) + 1)
    return line
  }

  return {
    async peek(): Promise<RowLine | undefined> {
      while (next === undefined) {
        const line = await parsed()
        if (line === undefined) break
        if ('end' in line) end = line.end
        else next = inOrder(line)
      }
      return next
    },
    take: () => void (next = undefined),
    count() {
      const chains = AUDIT_CHAINS.filter((chain) => end?.[chain] !== undefined || counts.has(chain))
      if (chains.length === 0)
        throw usageError(`--file: ${name} is empty: use a file that svc audit export wrote`, NEW_EXPORT)
      return { incomplete: end === undefined ? NO_END : wrongCount(end, counts), chains }
    },
  }
}

const NO_END =
  'its last line, which counts the rows, is missing: the export was not finished, lines were cut off, or a version of svc before this one wrote it'

function wrongCount(end: Counts, counts: ReadonlyMap<AuditChain, number>): string | null {
  for (const chain of AUDIT_CHAINS) {
    const [said, found] = [end[chain], counts.get(chain) ?? 0]
    if (found !== (said ?? 0)) return `its last line counts ${said ?? 'no'} rows of ${chain}, and there are ${found}`
  }
  return null
}

/**
 * The lines of a file, or of standard input for `-`. They end at a line feed alone: node:readline would end them at U+2028
 * as well, which JSON may hold as it is.
 * @throws {CliError} exit code 2 where it can't be read
 */
export async function* linesOf(io: Pick<Io, 'cwd' | 'stdin'>, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(io, file)) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

async function* chunksOf({ cwd, stdin }: Pick<Io, 'cwd' | 'stdin'>, file: string): AsyncGenerator<Uint8Array> {
  if (file === STDOUT && stdin.isTTY)
    throw usageError(
      '--file: - is standard input, and nothing is piped into it',
      'svc audit export | svc audit verify --file -',
    )
  try {
    yield* file === STDOUT ? stdin.chunks() : createReadStream(resolve(cwd, file))
  } catch (error) {
    const why = messageOf(error)
    throw usageError(`--file: can't read ${file} (${why})`, NEW_EXPORT)
  }
}
