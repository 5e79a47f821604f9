import { Matrix } from '../language/structure.ts'
import { memberOf } from '../member.ts'
import type { NoteIn, Opened } from './document.ts'
import { typedLike, varsText, withVars } from './variables.ts'
import type { Vars } from './variables.ts'

/** As many cases may a document become. */
export const ROWS_MAX = 200

/** A row of a document's table: its variables, and as the case's name shows them; empty where there is no table. */
export type Row = { vars: Vars; text: string }

/**
 * The rows of a document's table, one without variables where it has none. Variables of the command line win over the
 * table's; rows that are the same then are one.
 */
export function rowsOf(
  opened: Opened,
  { known, given, noteIn }: { known: Vars; given: Vars; noteIn: NoteIn },
): readonly Row[] {
  const written: unknown = withVars(memberOf(opened.raw, 'matrix'), known)
  const parsed = Matrix.safeParse(written)
  // What is wrong with it is told by the frame's schema.
  if (written === undefined || !parsed.success) return [{ vars: {}, text: '' }]
  const count = Array.isArray(parsed.data)
    ? parsed.data.length
    : Object.values(parsed.data).reduce((product, column) => product * column.length, 1)
  const refuse = (message: string): Row[] => {
    noteIn(opened, { path: ['matrix'], what: 'key', message, hint: 'matrix: { currency: [GBP, EUR] }' })
    return []
  }
  if (count > ROWS_MAX) return refuse(`the matrix has ${count} rows; there may be ${ROWS_MAX}`)
  const rows = Array.isArray(parsed.data) ? parsed.data : combinationsOf(Object.entries(parsed.data))
  if (rows.some((row) => Object.keys(row).length === 0)) return refuse('a row of the matrix has no variable')
  const named = rows.map((row) => {
    const vars = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        given[name] === undefined ? value : typedLike(value, given[name], { name, file: opened.source.file }),
      ]),
    )
    return { vars, text: varsText(vars) }
  })
  return named.filter((row, index) => named.findIndex(({ text }) => text === row.text) === index)
}

function combinationsOf<T>(columns: readonly (readonly [string, readonly T[]])[]): Record<string, T>[] {
  return columns.reduce<Record<string, T>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  )
}
