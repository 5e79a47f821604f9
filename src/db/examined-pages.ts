import { cursorOf } from '../lib/cursor.ts'
import type { Examined } from './examined-sql.ts'

type Read<T> = {
  limit: number
  /** The row that the page before ended with; undefined on the first one. */
  after: string | undefined
  keyOf(row: T): string
  /** At most `limit` rows and one more, as `examinedRows` returns them. */
  read(after: string | undefined, limit: number): Promise<readonly (T & Examined)[]>
  /** How long a request goes on without a full page, in milliseconds. */
  fillMs?: number
}

export type ExaminedPage<T> = { rows: readonly Omit<T, keyof Examined>[]; nextCursor: string | null }

/** As long as an operator waits without noticing, and far from the time limit of a statement. */
export const FILL_MS = 250

/**
 * A page of a list that compares its filters with each row: rows are examined until the page is full, all are, or the time is
 * over. Then the page is short, or even empty, and its cursor continues (decision 389).
 */
export async function readExamined<T>({
  limit,
  after,
  keyOf,
  read,
  fillMs = FILL_MS,
}: Read<T>): Promise<ExaminedPage<T>> {
  const until = performance.now() + fillMs
  const rows: Omit<T, keyof Examined>[] = []
  for (let last = after; ;) {
    const left = limit - rows.length
    const page = partOf(await read(last, left), left)
    rows.push(...page.rows.map(({ matches: _matches, is_last_examined: _isLast, ...row }) => row))
    last = page.last && keyOf(page.last)
    if (last === undefined) return { rows, nextCursor: null }
    if (rows.length === limit || performance.now() >= until) return { rows, nextCursor: cursorOf(last) }
  }
}

/** What one statement adds to a page. `last` is the row after which the next one begins; undefined where nothing follows. */
function partOf<T extends Examined>(found: readonly T[], limit: number): { rows: readonly T[]; last: T | undefined } {
  const end = found.findIndex((row) => row.is_last_examined)
  const rows = (end === -1 ? found : found.slice(0, end + 1)).filter(({ matches }) => matches)
  if (rows.length > limit) return { rows: rows.slice(0, limit), last: rows[limit - 1] }
  return { rows, last: found[end] }
}
