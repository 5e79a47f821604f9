import type { Document } from 'yaml'
import { parseAllDocuments } from 'yaml'
import { PartFrame } from './file-schema.ts'
import { memberOf } from '../member.ts'
import { collectMistakes, openDocument, BYTES_MAX, documentsOf } from './document.ts'
import { readCase } from './read-case.ts'
import type { Case } from './read-case.ts'
import { parse } from './read-step.ts'
import { inOrder, makeMistake, makeSource, distinct } from './source.ts'
import type { Mistake, Place, Source } from './source.ts'
import type { UsedFiles } from './use-file.ts'
import { givenFor, namesIn, varsOf, typedLike, varsText, withVars } from './variables.ts'
import type { Vars } from './variables.ts'
import { Matrix } from '../language/structure.ts'
import type { NoteIn, Opened } from './document.ts'

export type ReadOptions = {
  /** As messages name it. */
  file: string
  text: string
  /** Those of the command line; they win over the file's. */
  vars: Vars
  /** Where the file is: what it uses is looked for beside it. A text without one uses what lies in `cwd`. */
  path?: string | undefined
  cwd?: string | undefined
}

export type Read = {
  cases: Case[]
  mistakes: Mistake[]
  /** The names of variables; undefined where the YAML can't be read, which may hold any. */
  names: ReturnType<typeof namesIn> | undefined
}

const DOCUMENTS_MAX = 1_000

/** Reads a file of scenarios. All its mistakes are found at once; with any of them, nothing of it should be played. */
export function readScenarios(options: ReadOptions): Read {
  const { file, text } = options
  const source = makeSource(file, text)
  const refuse = (message: string, hint?: string): Read => {
    const begin: Place = { file, line: 1, column: 1, length: 1 }
    return { cases: [], mistakes: [makeMistake(source, begin, { message, hint })], names: undefined }
  }
  if (Buffer.byteLength(text) > BYTES_MAX) return refuse('the file is larger than 1 MiB')
  const documents = documentsOf(parseAllDocuments(text, { lineCounter: source.counter, prettyErrors: false }))
  if (documents.length === 0)
    return refuse('there is no scenario in this file', 'svc sandbox scenarios show happy-path')
  if (documents.length > DOCUMENTS_MAX) return refuse(`the file has more than ${DOCUMENTS_MAX} documents`)
  const files: UsedFiles = { cwd: options.cwd ?? process.cwd(), found: new Map(), mistakes: [] }
  const read: Documents[] = []
  for (const [index, document] of documents.entries()) {
    const key = `${file}#${index + 1}`
    const one = readDocument(document, { ...options, source, key, files })
    read.push(one)
  }
  const cases = read.flatMap((one) => one.cases).map((scenario, index) => ({ ...scenario, number: index + 1 }))
  const mistakes = distinct([...files.mistakes, ...read.flatMap((one) => one.mistakes)])
  const raws = [...read, ...[...files.found.values()].filter((used) => used !== undefined)].map(({ raw }) => raw)
  return { cases, mistakes: inOrder(mistakes, file), names: raws.includes(undefined) ? undefined : namesIn(raws) }
}

type DocumentOptions = ReadOptions & { source: Source; key: string; files: UsedFiles }
type Unnumbered = Omit<Case, 'number'>
type Documents = { raw: unknown; cases: Unnumbered[]; mistakes: Mistake[] }

/** The cases of a document: one, or one for each row of its table; none where it is there to be used by others. */
function readDocument(document: Document, { source, key, files, vars: commandLine, path }: DocumentOptions): Documents {
  const opened = openDocument(document, source)
  const { mistakes, noteIn } = collectMistakes(opened.mistakes)
  const { raw } = opened
  if (raw === undefined) return { raw, cases: [], mistakes }
  if (memberOf(raw, 'scenario') === 'part') {
    parse(PartFrame, raw, { path: [], note: noteIn.bind(undefined, opened) })
    return { raw, cases: [], mistakes }
  }
  const own = varsOf(raw)
  const known = { ...own, ...givenFor(own, commandLine, source.file) }
  const rows = rowsOf(opened, { known, given: commandLine, noteIn })
  const read = rows.map((row) => {
    const rowKey = row.text === '' ? key : `${key}[${row.text}]`
    const vars = { ...known, ...row.vars }
    return readCase(opened, { row, key: rowKey, vars, given: commandLine, files, path })
  })
  return {
    raw,
    cases: read.flatMap(({ scenario }) => (scenario === undefined ? [] : [scenario])),
    mistakes: [...mistakes, ...read.flatMap((one) => one.mistakes)],
  }
}

/** As many cases may a document become. */
export const ROWS_MAX = 200

/** A row of a document's table: its variables, and as the case's name shows them; empty where there is no table. */
export type Row = { vars: Vars; text: string }

/**
 * The rows of a document's table, one without variables where it has none. Variables of the command line win over the
 * table's; rows that are the same then are one. Those that only look the same, as long values are cut, are numbered.
 */
export function rowsOf(
  opened: Opened,
  { known, given, noteIn }: { known: Vars; given: Vars; noteIn: NoteIn },
): readonly Row[] {
  const written: unknown = withVars(memberOf(opened.raw, 'matrix'), known)
  const parsed = Matrix.safeParse(written)
  // What is wrong with it is reported by the frame's schema.
  if (written === undefined || !parsed.success) return [{ vars: {}, text: '' }]
  const count = Array.isArray(parsed.data)
    ? parsed.data.length
    : Object.values(parsed.data).reduce((product, column) => product * column.length, 1)
  const refuse = (message: string): Row[] => {
    noteIn(opened, { path: ['matrix'], what: 'key', message, hint: 'matrix: { currency: [GBP, EUR] }' })
    return []
  }
  if (count > ROWS_MAX) return refuse(`the matrix has ${count} rows; there may be ${ROWS_MAX}`)
  const rows = Array.isArray(parsed.data) ? parsed.data : combinationsOf(Object.entries(parsed.data))
  if (rows.some((row) => Object.keys(row).length === 0)) return refuse('a row of the matrix has no variable')
  const named = rows.map((row) => {
    const vars = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        given[name] === undefined ? value : typedLike(value, given[name], { name, file: opened.source.file }),
      ]),
    )
    return { vars, text: varsText(vars) }
  })
  const seen = new Set<string>()
  const distinct = named.filter(({ vars }) => seen.size < seen.add(JSON.stringify(Object.entries(vars))).size)
  return distinct.map((row, index) => {
    const sameCount = distinct.slice(0, index).filter(({ text }) => text === row.text).length
    return sameCount === 0 ? row : { ...row, text: `${row.text} #${sameCount + 1}` }
  })
}

function combinationsOf<T>(columns: readonly (readonly [string, readonly T[]])[]): Record<string, T>[] {
  return columns.reduce<Record<string, T>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  )
}
