import { GAP, INDENT, fitted, widthOfColumn } from './fit.ts'
import type { Laid } from './fit.ts'
import type { Paint, Style } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { widthOf } from '../base/width.ts'

export type Column<Row> = Pick<Laid, 'title' | 'short' | 'below' | 'dropped' | 'least' | 'floor'> & {
  value(row: Row): string
  align?: 'right'
  /** How to colour a cell, by its text. */
  style?(text: string): Style | undefined
}

/** How to colour a cell by its text, such as a status; `otherwise` for any other. */
export function stylesOf<Otherwise extends Style | undefined>(
  styles: Readonly<Record<string, Style>>,
  otherwise: Otherwise,
): (text: string) => Style | Otherwise {
  const known = new Map(Object.entries(styles))
  return (text) => known.get(text) ?? otherwise
}

export type TableOptions = {
  header: boolean
  paint: Paint
  /** Of the terminal; elsewhere, where programs read, no cell is cut short. */
  width?: number | undefined
}

/** A table for people: aligned columns with two spaces between, no lines. In a narrow terminal a row may have two lines. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { header, paint, width = Infinity }: TableOptions,
): string[] {
  const laid = columns.map(({ title, value, ...column }) => {
    const cells = rows.map((row) => printable(value(row)))
    // A cell that is cut keeps the colour of the whole.
    const styles = cells.map((text) => column.style?.(text))
    return { ...column, title: header ? title.toUpperCase() : '', cells, styles }
  })
  const { first, second } = fitted(laid, width)
  const lines = [lineOf(first), ...(second.length === 0 ? [] : [lineOf(second, INDENT)])]
  const rowAt = (index: number): string[] =>
    lines.map((line) =>
      line(({ cells, styles }) => {
        const [text = '', style] = [cells[index], styles[index]]
        return [style === undefined ? text : paint(style, text), text]
      }),
    )
  const titles = header ? lines.map((line) => line(({ title }) => [paint('bold', title), title])) : []
  return [...titles, ...rows.flatMap((_row, index) => rowAt(index))]
}

/** A table below a record; empty where there are no rows. */
export function tableBelow<Row>(
  { width, paint }: Omit<TableOptions, 'header'>,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): string {
  return rows.length === 0 ? '' : tableOf(rows, columns, { header: true, paint, width }).join('\n')
}

/** How a line is laid out: each cell as it is painted, and as it is without that. */
function lineOf<Cells extends Pick<Laid, 'title' | 'cells'> & { align?: 'right' }>(
  columns: readonly Cells[],
  indent = '',
): (cellOf: (column: Cells) => [painted: string, plain: string]) => string {
  const widths = columns.map((column) => widthOfColumn(column))
  return (cellOf) => {
    const cells = columns.map((column, index) => pad(...cellOf(column), { width: widths[index] ?? 0, ...column }))
    return `${indent}${cells.join(GAP)}`.trimEnd()
  }
}

function pad(painted: string, plain: string, { width, align }: { width: number; align?: 'right' }): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(plain)))
  return align === 'right' ? `${space}${painted}` : `${painted}${space}`
}
