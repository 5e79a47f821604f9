import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { AuditRow } from '../../../src/lib/audit-chain.ts'
import { AuditChain, EXPORT_LIMIT_MAX, exportAudit } from '../../../src/wire/audit.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import { usageError } from '../../errors.ts'

/** The rows of a chain, the oldest first, in pages. */
export type RowSource = (chain: AuditChain) => AsyncIterable<readonly AuditRow[]>

/** The rows that the service holds. */
export function rowsOfService(client: Client): RowSource {
  return async function* pages(chain) {
    let cursor: string | null = null
    do {
      const query: { chain: AuditChain; limit: number; cursor?: string } = { chain, limit: EXPORT_LIMIT_MAX }
      if (cursor !== null) query.cursor = cursor
      const { body } = await call(client, exportAudit, { query })
      yield body.data
      cursor = body.next_cursor
    } while (cursor !== null)
  }
}

/** One line of an export. */
const ExportedLine = z.strictObject({
  chain: AuditChain,
  row: z.record(z.string(), z.string().nullable()),
})

/** A row as `svc audit export` writes it. */
export function exportedLine(chain: AuditChain, row: AuditRow): string {
  return `${JSON.stringify({ chain, row })}\n`
}

/**
 * The rows of an export that `svc audit export` wrote. The file is read once for each chain, and never held whole. Once
 * all its lines have been found to be rows, those of other chains are passed over unread.
 */
export function rowsOfFile(cwd: string, file: string): RowSource {
  let isSound = false
  return async function* pages(chain) {
    let number = 0
    let page: AuditRow[] = []
    for await (const line of linesOf(cwd, file)) {
      number += 1
      if (line === '' || (isSound && !line.includes(`"${chain}"`))) continue
      const parsed = ExportedLine.safeParse(jsonOf(line))
      if (!parsed.success) throw usageError(`--file: line ${number} of ${file} is no row of an export`, NEW_EXPORT)
      if (parsed.data.chain === chain) page.push(parsed.data.row)
      if (page.length < EXPORT_LIMIT_MAX) continue
      yield page
      page = []
    }
    isSound = true
    yield page
  }
}

const NEW_EXPORT = 'svc audit export --file audit.jsonl'

/** Lines end at a line feed alone: node:readline would end them at U+2028 as well, which JSON may hold as it is. */
async function* linesOf(cwd: string, file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunksOf(cwd, file)) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

async function* chunksOf(cwd: string, file: string): AsyncGenerator<string> {
  try {
    for await (const chunk of createReadStream(resolve(cwd, file), 'utf8')) yield String(chunk)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw usageError(`--file: can't read ${file} (${why})`, NEW_EXPORT)
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
