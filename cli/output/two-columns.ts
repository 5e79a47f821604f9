import type { Paint } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { widthOf } from '../base/width.ts'
import { wrappedLines } from '../base/wrap.ts'

export type Statement = { title: string; text: string }

const GAP = '   '
/** Narrower columns than this are harder to read than one below the other. */
const COLUMN_LEAST = 44

export type BesideOptions = { paint: Paint; width: number | undefined }

/**
 * What two sides say, side by side where the terminal has room for both, otherwise one below the other. Where it goes to
 * no terminal, lines are left as long as they are.
 */
export function beside(statements: readonly Statement[], { paint, width }: BesideOptions): string[] {
  const columns = columnsFor(statements.length, width)
  const room = width === undefined ? Infinity : Math.floor((width - GAP.length * (columns - 1)) / columns)
  const blocks = statements.map(({ title, text }) => ({ title, lines: wrappedLines(printable(text, 'lines'), room) }))
  if (columns === 1)
    return blocks.flatMap(({ title, lines }, index) => [...(index === 0 ? [] : ['']), paint('bold', title), ...lines])
  const height = Math.max(...blocks.map(({ lines }) => lines.length))
  const titles = blocks.map(({ title }): Cell => [paint('bold', title), title])
  const rows = Array.from({ length: height }, (_, row) => blocks.map(({ lines }) => plain(lines[row] ?? '')))
  return [titles, ...rows].map((cells) => rowOf(cells, room))
}

type Cell = readonly [painted: string, plain: string]

function plain(text: string): Cell {
  return [text, text]
}

function rowOf(cells: readonly Cell[], room: number): string {
  const padded = cells.map(([painted, text]) => painted + ' '.repeat(Math.max(0, room - widthOf(text))))
  return padded.join(GAP).trimEnd()
}

function columnsFor(count: number, width: number | undefined): number {
  if (width === undefined || count < 2) return 1
  return (width - GAP.length * (count - 1)) / count >= COLUMN_LEAST ? count : 1
}
