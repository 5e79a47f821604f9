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

export type TableOptions = {
  header: boolean
  paint: Paint
  /** Of the terminal; elsewhere, where programs read, no cell is cut short. */
  width?: number | undefined
}

/** A table for people: aligned columns with two spaces between, no lines. In a narrow terminal a row may have two lines. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string[] {
  const parts = tableParts(rows, columns, options)
  return [...parts.header, ...parts.rows.flat()]
}

/** A table below a record, in one colour; nothing where there are no rows. */
export function tableBelow<Row>(
  { width }: { readonly width: number | undefined },
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): { after?: string } {
  if (rows.length === 0) return {}
  return { after: tableOf(rows, columns, { header: true, paint: (_style, text) => text, width }).join('\n') }
}

/** The lines of a table, those of each row by themselves. */
export function tableParts<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { header, paint, width = Infinity }: TableOptions,
): { header: string[]; rows: string[][] } {
  const laid = columns.map(({ title, value, ...column }) => {
    const cells = rows.map((row) => printable(value(row)))
    // A cell that is cut keeps the colour of the whole.
    const styles = cells.map((text) => column.style?.(text))
    return { ...column, title: header ? title.toUpperCase() : '', cells, styles }
  })
  const { first, second } = fitted(laid, width)
  const lines = [lineOf(first), ...(second.length === 0 ? [] : [lineOf(second, INDENT)])]
  return {
    header: header ? lines.map((line) => line(({ title }) => [paint('bold', title), title])) : [],
    rows: rows.map((_row, index) =>
      lines.map((line) =>
        line(({ cells, styles }) => {
          const [text = '', style] = [cells[index], styles[index]]
          return [style === undefined ? text : paint(style, text), text]
        }),
      ),
    ),
  }
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
