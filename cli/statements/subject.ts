import { listStatementLines } from '../../src/wire/statements.ts'
import type { StatementLine } from '../../src/wire/statements.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import type { Subject } from '../kit/action.ts'

// How far back a line is looked for: a thousand of them.
const PAGES_MAX = 10

/** A line that is not matched yet. */
export const statementLine: Subject<StatementLine> = {
  noun: 'line',
  summary: 'Its id, or at least its last 8 characters (an unmatched line)',
  async find(client, given) {
    const { notFound, resolveId } = await import('../kit/resolve-id.ts')
    const lines: StatementLine[] = []
    const noun = 'unmatched statement line'
    const id = await resolveId(given, noun, async function* ids() {
      for await (const line of unmatchedLines(client)) {
        lines.push(line)
        yield line.id
      }
    })
    const thing = lines.find((line) => line.id === id) ?? (await firstWithId(client, id))
    if (thing === undefined) throw notFound(given, noun)
    return { thing, isExact: given.toLowerCase() === id }
  },
  id: ({ id }) => id,
  name: ({ direction, amount, currency, booked_on: day }) =>
    `the ${direction.toLowerCase()} of ${amount} ${currency} on ${day}`,
  handle: ({ id }) => id,
  confirmBy: ({ id }) => [endOfId(id), id],
}

async function* unmatchedLines(client: Client): AsyncGenerator<StatementLine> {
  const { call } = await import('../client/call.ts')
  const { rowsOf } = await import('../client/pages.ts')
  yield* rowsOf(async (page) => {
    return (await call(client, listStatementLines, { query: { ...page, state: 'unmatched' } })).body
  }, PAGES_MAX)
}

async function firstWithId(client: Client, id: string): Promise<StatementLine | undefined> {
  for await (const line of unmatchedLines(client)) if (line.id === id) return line
  return undefined
}
