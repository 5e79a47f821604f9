import { fitted, widthOfColumn } from '../output/fit.ts'
import type { Style } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { cutTo as cutText, widthOf } from '../base/width.ts'
import { CUT, cutTo } from './lines.ts'
import type { Line, Span, Tone } from './lines.ts'
import type { ScreenColumn } from './screen.ts'
import { MORE, windowed } from './table-window.ts'

/** A table as it fits into a width: its header, and the cells of each row. */
export type Laid = {
  header: Line
  row(index: number): Line
  /** How many columns can be scrolled away to see the last one; 0 where all are to be seen. */
  most: number
}

export type TableOptions = {
  width: number
  /** All columns at their full width; what does not fit is scrolled to. */
  wide?: boolean
  /** How many columns, behind the first, are scrolled away. */
  left?: number
  /**
   * Of a list, the titles of the columns that have had a value: they keep their places. So do the others where there is
   * room for all: what comes then moves nothing. A table without it has no empty columns.
   */
  filled?: Set<string>
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
  { width, wide = false, left = 0, filled }: TableOptions,
): Laid {
  const all = columns
    .filter(({ onlyWide }) => wide || onlyWide !== true)
    .map(({ title, value, style, ...column }) => {
      const cells = rows.map((row) => printable(value(row)))
      if (cells.some((text) => text !== '')) filled?.add(title)
      const tones = cells.map((text) => toneOf(style?.(text)))
      return { ...column, title: title.toUpperCase(), cells, tones, stays: filled?.has(title) }
    })
  const isWhole = wide || filled !== undefined || rows.length === 0
  const kept = isWhole ? all : all.filter(({ cells }) => cells.some((text) => text !== ''))
  const narrow = wide ? kept : fitted(kept, width, CUT).first
  const widths = narrow.map((column) => widthOfColumn(column))
  const wides = narrow.map(({ title, align }, index) => ({ width: widths[index] ?? 0, least: widthOf(title), align }))
  // What can't be made to fit is left out column by column, too.
  const { shown, hasMore, most } = windowed(wides, { width, left: wide ? left : 0 })
  const lineOf = (cellOf: (column: (typeof narrow)[number]) => Span, isHeader: boolean): Line => {
    const spans = shown.flatMap(({ at, width: room, before }, index): Span[] => {
      const column = narrow[at]
      if (column === undefined) return []
      const { text, ...looks } = cellOf(column)
      const cell = { ...looks, text: cutText(text, room, CUT) }
      const blank = { text: ' '.repeat(Math.max(0, room - widthOf(cell.text))) }
      const gap = { text: isHeader ? before : ' '.repeat(before.length) }
      if (column.align === 'right') return [gap, blank, cell]
      // What stands last needs no blanks behind it: they would be cut, and said to be.
      return index === shown.length - 1 && !(isHeader && hasMore) ? [gap, cell] : [gap, cell, blank]
    })
    return cutTo(isHeader && hasMore ? [...spans, { text: MORE, tone: 'dim' }] : spans, width)
  }
  return {
    header: lineOf(({ title }) => ({ text: title, tone: 'bold' }), true),
    row: (index) => lineOf(({ cells, tones }) => ({ text: cells[index] ?? '', tone: tones[index] }), false),
    most: wide ? most : 0,
  }
}

/** A table as lines of a detail. */
export function tableLines<Row>(rows: readonly Row[], columns: readonly ScreenColumn<Row>[], width: number): Line[] {
  const laid = laidTable(rows, columns, { width })
  return [laid.header, ...rows.map((_, index) => laid.row(index))]
}

/** Two signs before each row: where the selection is, and whether it is marked or has just come. */
export const SIGNS = 2
