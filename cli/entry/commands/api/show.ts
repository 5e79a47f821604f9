import { STATUS_CODES } from 'node:http'
import type { Reply } from '../../../client/call.ts'
import type { Context } from '../../../kit/context.ts'
import { printable } from '../../../base/text.ts'
import { parsedJson } from '../../../base/json.ts'

/** The status line and the headers of an answer, on standard error: what stands on standard output is the body alone. */
export function showHeaders({ io }: Context, { status, headers }: Reply): void {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}: ${printable(each)}`),
  )
  io.stderr.write(`${[`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`)
}

/** The body: as it came where it is piped, laid out for people in a terminal, and in the form that was asked for. */
export function showBody({ io, print }: Context, text: string): void {
  const json = parsedJson(text)
  if (json !== undefined && print.isMachine) return showData(print, json)
  if (!io.stdout.isTTY) return io.stdout.write(text)
  const laidOut = json === undefined ? text : JSON.stringify(json, null, 2)
  if (laidOut !== '') io.stdout.write(`${printable(laidOut, 'lines').trimEnd()}\n`)
}

function showData(print: Context['print'], json: unknown): void {
  const rows = rowsOf(json)
  // These forms are of rows; all others print a value of any shape.
  if (rows === undefined || !['csv', 'id', 'jsonl'].includes(print.mode) || print.isPartial)
    return print.record({ item: json, id: idOf(json), lines: [] })
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  print.list({ items: rows, fields, columns: [], id: idOf, empty: '' })
}

type Row = Readonly<Record<string, unknown>>

/** The rows of a list, with the page around them or without. */
function rowsOf(json: unknown): Row[] | undefined {
  const rows = Array.isArray(json) ? json : Object(json).data
  return Array.isArray(rows) && rows.every((row) => typeof row === 'object' && row !== null) ? rows : undefined
}

/** What names a thing: `id`, else its first member that is called like one. */
function idOf(json: unknown): string {
  const members = Object.entries(Object(json))
  const [, id = ''] = members.find(([name]) => name === 'id') ?? members.find(([name]) => name.endsWith('_id')) ?? []
  return String(id)
}
