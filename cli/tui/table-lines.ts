import { GAP, fitted, widthOfColumn } from '../fit.ts'
import { printable, widthOf } from '../text.ts'
import type { Style } from '../io.ts'
import { cropped } from './lines.ts'
import type { Line, Span, Tone } from './lines.ts'
import type { ScreenColumn } from './screen.ts'

/** A table as it fits into a width: its header, and the cells of each row. */
export type Laid = { header: Line; row(index: number): Line }

export type TableOptions = {
  width: number
  /** All columns at their full width; what does not fit is scrolled to. */
  wide?: boolean
  /** How many columns of the terminal lie left of what is shown. */
  left?: number
}

const TONES: Readonly<Record<string, Tone>> = { green: 'good', red: 'bad', yellow: 'warn', magenta: 'info' }

/** The tone that stands for a colour of the command line's tables. */
function toneOf(style: Style | undefined): Tone | undefined {
  return typeof style === 'string' ? TONES[style] : undefined
}

/** Lays rows out as the command line's tables do, for the console. */
export function laidTable<Row>(
  rows: readonly Row[],
  columns: readonly ScreenColumn<Row>[],
  { width, wide = false, left = 0 }: TableOptions,
): Laid {
  const all = columns
    .filter(({ onlyWide }) => wide || onlyWide !== true)
    .map(({ title, value, style, ...column }) => {
      const cells = rows.map((row) => printable(value(row)))
      return { ...column, title: title.toUpperCase(), cells, tones: cells.map((text) => toneOf(style?.(text))) }
    })
  // What no row has anything in takes no room, unless all is asked for.
  const filled = all.filter(({ cells }) => rows.length === 0 || cells.some((text) => text !== ''))
  const shown = wide ? all : fitted(filled, width).first
  const widths = shown.map((column) => widthOfColumn(column))
  const lineOf = (cell: (column: (typeof shown)[number]) => Span): Line =>
    cropped(
      shown.flatMap((column, index) => {
        const span = cell(column)
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(span.text)))
        const gap = index === shown.length - 1 ? '' : GAP
        return column.align === 'right' ? [{ text: space }, span, { text: gap }] : [span, { text: `${space}${gap}` }]
      }),
      width,
      wide ? left : 0,
    )
  return {
    header: lineOf(({ title }) => ({ text: title, tone: 'bold' })),
    row: (index) => lineOf(({ cells, tones }) => ({ text: cells[index] ?? '', tone: tones[index] })),
  }
}

/** A table as lines of a detail. */
export function tableLines<Row>(rows: readonly Row[], columns: readonly ScreenColumn<Row>[], width: number): Line[] {
  const laid = laidTable(rows, columns, { width })
  return [laid.header, ...rows.map((_, index) => laid.row(index))]
}
