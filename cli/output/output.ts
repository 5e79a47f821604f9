import { csvOf } from '../../src/lib/csv.ts'
import type { Io, Paint } from '../base/io.ts'
import type { OutputMode } from '../base/output-modes.ts'
import { checkPath, parsePath, valueAt } from './path.ts'
import { tableOf } from './table.ts'
import type { Column, TableOptions } from './table.ts'
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
  /** The members of a row in machine output, which CSV needs also for an empty list: their names, or its schema. */
  fields: readonly string[] | { shape: object }
  columns: readonly Column<Row>[]
  /** Members that CSV leaves out unless they are asked for: files are passed on, and some members let their reader in. */
  notInCsv?: readonly string[]
  /** The text of the first column, where nothing is said. */
  id?(row: Row): string
  /** What people read when there is nothing. */
  empty?: string
}

/** What people read of one thing: a label and a text per line; empty texts are left out. */
export type RecordLines = readonly (readonly [label: string, text: string])[]

export type RecordMore = {
  /** The text of the first line, where nothing is said. */
  id?: string
  /** More for people, each part below an empty line; empty ones are left out. */
  after?: string | readonly string[]
}

/** Prints results to standard output in the form the user chose. Everything else belongs on standard error. */
export type Printer = {
  list<Row>(items: readonly Row[], view: ListView<Row>): void
  record(item: unknown, lines: RecordLines, more?: RecordMore): void
  /**
   * Refuses chosen members that a record of these could not have: before it is made, where that can't be done again.
   * @throws {CliError} exit code 2
   */
  expect(members: readonly string[]): void
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
    list(items, { fields, columns, notInCsv, empty = '', id = columns[0]?.value ?? (() => '') }) {
      const known = 'shape' in fields ? Object.keys(fields.shape) : fields
      if (printData(paged, options, items, known)) return
      if (options.mode === 'id') return write(paged, items.map(id))
      if (options.mode === 'csv') return writeCsv(paged, options, { items, fields: known, notInCsv })
      if (items.length === 0) return io.stderr.write(`${empty}\n`)
      write(paged, tableOf(items, columns, { ...options, width: widthNow() }))
    },
    record(item, lines, { id = lines[0]?.[1] ?? '', after = [] } = {}) {
      const fields = Object.keys(Object(item))
      if (printData(io, options, item, fields)) return
      if (options.mode === 'id') return write(io, id === '' ? [] : [id])
      if (options.mode === 'csv') return writeCsv(io, options, { items: [item], fields })
      write(io, [...recordLines(lines, { ...options, width: widthNow() }), ...below(after)])
    },
  }
}

/** The forms that print data as it is. False when the form is another. */
function printData(io: Io, options: OutputOptions, data: unknown, known: readonly string[]): boolean {
  if (options.query !== undefined) {
    const path = parsePath(options.query)
    checkPath(data, path, known)
    writeData(io, lineText(scalars(valueAt(data, path), options)))
    return true
  }
  const kept = selected(options, data, known)
  if (options.mode === 'json') writeData(io, lineText([JSON.stringify(kept, null, io.stdout.isTTY ? 2 : 0)]))
  else if (options.mode === 'jsonl')
    writeData(io, lineText((Array.isArray(kept) ? kept : [kept]).map((item) => JSON.stringify(item))))
  else if (options.mode === 'yaml')
    writeData(io, yaml().stringify(kept, { lineWidth: 0, aliasDuplicateObjects: false }))
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
function writeCsv(
  io: Io,
  options: OutputOptions,
  {
    items,
    fields: known,
    notInCsv = [],
  }: { items: readonly unknown[]; fields: readonly string[]; notInCsv?: readonly string[] | undefined },
): void {
  const { fields = known.filter((name) => !notInCsv.includes(name)), header } = options
  const rows = selected(options, items, known)
  writeData(io, csvOf(Array.isArray(rows) ? rows : [], fields, { header, lineEnd: '\n' }))
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

/** Each part with an empty line before it. */
export function below(after: NonNullable<RecordMore['after']>): string[] {
  return [after].flat().flatMap((part) => (part === '' ? [] : ['', ...part.split('\n')]))
}

function recordLines(lines: RecordLines, { paint, width = Infinity }: Omit<TableOptions, 'header'>): string[] {
  const shown = lines.filter(([, text]) => text !== '')
  const indent = Math.max(0, ...shown.map(([label]) => widthOf(label))) + 2
  return shown.flatMap(([label, text]) => {
    const [first = '', ...rest] = wrapped(printable(text), width - indent)
    const below = rest.map((line) => `${' '.repeat(indent)}${line}`)
    return [`${paint('dim', label)}${' '.repeat(indent - widthOf(label))}${first}`, ...below]
  })
}

function write(io: Io, lines: readonly string[]): void {
  io.stdout.write(lineText(lines))
}

/** Programs get data as it is; at a terminal it must not drive the terminal, for payers and merchants write some of it. */
function writeData(io: Io, text: string): void {
  io.stdout.write(io.stdout.isTTY ? printable(text, 'lines') : text)
}

function lineText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
