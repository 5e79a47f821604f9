import type { Paint, Style } from './io.ts'
import { printable, widthOf } from './text.ts'

export type Column<Row> = {
  title: string
  value(row: Row): string
  align?: 'right'
  /** How to colour a cell, by its text. */
  style?(text: string): Style | undefined
}

/** A table for people: aligned columns with two spaces between, no lines, no cell cut short. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: { header: boolean; paint: Paint },
): string[] {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))))
  const titles = options.header ? [columns.map((column) => column.title.toUpperCase())] : []
  const widths = columns.map((_, index) => Math.max(...[...titles, ...cells].map((line) => widthOf(line[index] ?? ''))))
  const painted = (text: string, index: number): string => {
    const style = columns[index]?.style?.(text)
    return style === undefined ? text : options.paint(style, text)
  }
  const lay = (line: readonly string[], paint: (text: string, index: number) => string): string =>
    line
      .map((text, index) => pad(paint(text, index), text, widths[index] ?? 0, columns[index]?.align))
      .join('  ')
      .trimEnd()
  return [
    ...titles.map((line) => lay(line, (text) => options.paint('bold', text))),
    ...cells.map((line) => lay(line, painted)),
  ]
}

function pad(painted: string, plain: string, width: number, align: 'right' | undefined): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(plain)))
  return align === 'right' ? `${space}${painted}` : `${painted}${space}`
}

/** RFC 4180 with plain line feeds; what is no scalar is written as JSON. Without a line end after the last row. */
export function csvOf(rows: unknown, fields: readonly string[], header: boolean): string {
  const lines = (Array.isArray(rows) ? rows : [rows]).map((row: unknown) => {
    const members = new Map(Object.entries(Object(row)))
    return fields.map((field) => csvCell(members.get(field))).join(',')
  })
  return [...(header ? [fields.map(csvCell).join(',')] : []), ...lines].join('\n')
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
