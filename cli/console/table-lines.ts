import { GAP, fitted, widthOfColumn } from '../output/fit.ts'
import { printable } from '../base/text.ts'
import { cutTo as cutText, widthOf } from '../base/width.ts'
import { CUT, cutTo, toneOf } from './lines.ts'
import type { Line, Span } from './lines.ts'
import type { ScreenColumn } from './screen.ts'

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
  /** The titles of the columns that have had a value: they keep their places, so that what comes moves nothing. */
  filled?: Set<string>
}

/** Two signs before each row: where the selection is, and whether it is marked or has just come. */
export const SIGNS = 2

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
  // What can't be made to fit is left out column by column, too.
  const kept = wide ? all : fitted(all, width, CUT).first
  const { shown, most } = scrolled(kept, { width, left: wide ? left : 0 })
  const widths = shown.map((column) => widthOfColumn(column))
  const lineOf = (cellOf: (column: (typeof shown)[number]) => Span): Line => {
    const spans = shown.flatMap((column, index): Span[] => {
      const { text, ...looks } = cellOf(column)
      const room = widths[index] ?? 0
      const cell = { ...looks, text: cutText(text, room, CUT) }
      const blank = { text: ' '.repeat(Math.max(0, room - widthOf(cell.text))) }
      const gap = { text: index === 0 ? '' : GAP }
      if (column.align === 'right') return [gap, blank, cell]
      // What stands last needs no blanks behind it: they would be cut, and said to be.
      return index === shown.length - 1 ? [gap, cell] : [gap, cell, blank]
    })
    return cutTo(spans, width)
  }
  return {
    header: lineOf(({ title }) => ({ text: title, tone: 'bold' })),
    row: (index) => lineOf(({ cells, tones }) => ({ text: cells[index] ?? '', tone: tones[index] })),
    most: wide ? most : 0,
  }
}

/** The first column, which says what a row is, and as many of the others as fit whole behind those scrolled away. */
function scrolled<Column extends Parameters<typeof widthOfColumn>[0]>(
  [first, ...others]: readonly Column[],
  { width, left }: { width: number; left: number },
): { shown: Column[]; most: number } {
  if (first === undefined) return { shown: [], most: 0 }
  const room = width - widthOfColumn(first)
  const fitting = (columns: readonly Column[]): number => {
    let rest = room
    const end = columns.findIndex((column) => (rest -= GAP.length + widthOfColumn(column)) < 0)
    return end === -1 ? columns.length : end
  }
  const all = others.map((_, from) => from)
  const most = all.find((from) => fitting(others.slice(from)) === others.length - from) ?? Math.max(0, all.length - 1)
  const from = Math.min(left, most)
  // One that is wider than the screen is cut: something is shown in any case.
  return { shown: [first, ...others.slice(from, from + Math.max(1, fitting(others.slice(from))))], most }
}
