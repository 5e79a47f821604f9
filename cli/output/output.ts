import { csvOf } from '../../src/lib/csv.ts'
import type { Io, Paint } from '../base/io.ts'
import type { OutputMode } from '../base/output-modes.ts'
import { checkPath, parsePath, valueAt } from './path.ts'
import { tableOf } from './table.ts'
import type { Column } from './table.ts'
import { printable } from '../base/text.ts'
import { widthOf } from '../base/width.ts'
import { wrapped } from '../base/wrap.ts'
import { yaml } from '../base/yaml.ts'

export type OutputOptions = {
  mode: OutputMode
  /** Members to keep, as paths; all of them when undefined. */
  fields: readonly string[] | undefined
  /** A path whose value alone is printed. */
  query: string | undefined
  header: boolean
  paint: Paint
  /** Where lists and texts go, which a pager may show; records go by it, for many end with what their exit code says. */
  paged?: Io
}

export type ListView<Row> = {
  items: readonly Row[]
  /** The members of a row in machine output, which CSV needs also for an empty list. */
  fields: readonly string[]
  columns: readonly Column<Row>[]
  /** Members that CSV leaves out unless they are asked for: files are passed on, and some members let their reader in. */
  notInCsv?: readonly string[]
  id(row: Row): string
  /** What people read when there is nothing. */
  empty: string
}

export type RecordView<Item> = {
  item: Item
  /** What people read: a label and a text per line; empty texts are left out. */
  lines: readonly (readonly [label: string, text: string])[]
  id: string
  /** More for people, below the lines. */
  after?: string
}

/** Prints results to standard output in the form the user chose. Everything else belongs on standard error. */
export type Printer = {
  list<Row>(view: ListView<Row>): void
  record<Item>(view: RecordView<Item>): void
  /**
   * Refuses chosen members that a record of these could not have: before it is made, where that can't be done again.
   * @throws {CliError} exit code 2
   */
  expect(members: readonly string[]): void
  /** Prints a text for people as it is; a pager shows what is longer than the terminal. */
  text(text: string): void
  /** Whether the form is one for programs, which get no remarks. */
  readonly isMachine: boolean
  /** The form itself, for what has another shape in some of them. */
  readonly mode: OutputMode
  /** Whether only some members are asked for, or the value at a path. */
  readonly isPartial: boolean
  /** Whether tables and CSV begin with the names of their columns. */
  readonly header: boolean
  /** For lines that go to standard output. */
  readonly paint: Paint
  /** What a table for people has to fit into; undefined where it goes to no terminal. */
  readonly width: number | undefined
}

export function makePrinter(io: Io, options: OutputOptions): Printer {
  const { paged = io } = options
  // A terminal may change its width between two tables.
  const widthNow = (): number | undefined => (io.stdout.isTTY && io.stdout.columns > 0 ? io.stdout.columns : undefined)
  return {
    isMachine: options.mode !== 'table' || options.query !== undefined,
    mode: options.mode,
    isPartial: options.query !== undefined || options.fields !== undefined,
    header: options.header,
    paint: options.paint,
    get width() {
      return widthNow()
    },
    text: (text) => paged.stdout.write(text),
    expect(members) {
      const { query, fields = [] } = options
      for (const path of query === undefined ? fields : [query]) checkPath(null, parsePath(path), members)
    },
    list(view) {
      if (printData(paged, options, view.items, view.fields)) return
      if (options.mode === 'id')
        return write(
          paged,
          view.items.map((row) => view.id(row)),
        )
      if (options.mode === 'csv') return writeCsv(paged, options, view)
      if (view.items.length === 0) return io.stderr.write(`${view.empty}\n`)
      write(paged, tableOf(view.items, view.columns, { ...options, width: widthNow() }))
    },
    record(view) {
      const fields = Object.keys(Object(view.item))
      if (printData(io, options, view.item, fields)) return
      if (options.mode === 'id') return write(io, view.id === '' ? [] : [view.id])
      if (options.mode === 'csv') return writeCsv(io, options, { items: [view.item], fields })
      const rows = recordRows(view.lines, { ...options, width: widthNow() })
      const after = view.after === undefined ? [] : ['', view.after]
      write(io, [...rows.flatMap((row) => row.lines), ...after])
    },
  }
}

/** The forms that print data as it is. False when the form is another. */
function printData(io: Io, options: OutputOptions, data: unknown, known: readonly string[]): boolean {
  if (options.query !== undefined) {
    const path = parsePath(options.query)
    checkPath(data, path, known)
    write(io, scalars(valueAt(data, path), options))
    return true
  }
  const kept = selected(options, data, known)
  if (options.mode === 'json') write(io, [JSON.stringify(kept, null, io.stdout.isTTY ? 2 : 0)])
  else if (options.mode === 'jsonl')
    write(
      io,
      (Array.isArray(kept) ? kept : [kept]).map((item) => JSON.stringify(item)),
    )
  else if (options.mode === 'yaml')
    io.stdout.write(yaml().stringify(kept, { lineWidth: 0, aliasDuplicateObjects: false }))
  else return false
  return true
}

/** A query's value: scalars raw, one line each; objects as JSON. Nothing found prints nothing. */
function scalars(value: unknown, options: OutputOptions): string[] {
  if (value === undefined || value === null) return options.mode === 'json' ? ['null'] : []
  if (options.mode === 'json') return [JSON.stringify(value)]
  if (Array.isArray(value))
    return value.flatMap((item) => (Array.isArray(item) ? [JSON.stringify(item)] : scalars(item, options)))
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
}

/** With the line ends of a shell, where the service's own CSV has those of RFC 4180. */
function writeCsv<Row>(
  io: Io,
  options: OutputOptions,
  { items, fields: known, notInCsv = [] }: Pick<ListView<Row>, 'items' | 'fields' | 'notInCsv'>,
): void {
  const { fields = known.filter((name) => !notInCsv.includes(name)), header } = options
  const rows = selected(options, items, known)
  io.stdout.write(csvOf(Array.isArray(rows) ? rows : [], fields, { header, lineEnd: '\n' }))
}

/** The data with only the chosen members; a name that no row has is a mistake, not an empty column. */
function selected(options: OutputOptions, data: unknown, known: readonly string[]): unknown {
  const { fields } = options
  if (fields === undefined) return data
  const ofRow = Array.isArray(data) ? parsePath('[]') : []
  for (const field of fields) checkPath(data, [...ofRow, ...parsePath(field)], known)
  if (Array.isArray(data)) return data.map((item) => pick(item, fields))
  return pick(data, fields)
}

function pick(item: unknown, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, valueAt(item, parsePath(field)) ?? null]))
}

type LineOptions = { paint: Paint; width?: number | undefined }

/** Labels and texts in two columns; in a terminal a long text goes on below itself. */
export function recordRows(
  lines: readonly (readonly [string, string])[],
  { paint, width = Infinity }: LineOptions,
): { label: string; text: string; lines: string[] }[] {
  const shown = lines.filter(([, text]) => text !== '')
  const indent = Math.max(0, ...shown.map(([label]) => widthOf(label))) + 2
  return shown.map(([label, text]) => {
    const [first = '', ...rest] = wrapped(printable(text), width - indent)
    const below = rest.map((line) => `${' '.repeat(indent)}${line}`)
    return { label, text, lines: [`${paint('dim', label)}${' '.repeat(indent - widthOf(label))}${first}`, ...below] }
  })
}

function write(io: Io, lines: readonly string[]): void {
  if (lines.length > 0) io.stdout.write(`${lines.join('\n')}\n`)
}
