import { isScalar, parseAllDocuments } from 'yaml'
import type { Document } from 'yaml'
import { checkReferences } from './check-references.ts'
import type { Explained } from './explain.ts'
import { Frame, Given, VarValue } from './language.ts'
import { memberOf } from './member.ts'
import { parse, readStep } from './read-step.ts'
import type { Step } from './read-step.ts'
import { resolveReferences } from './references.ts'
import { locate, makeMistake, makeSource } from './source.ts'
import type { Mistake, Place, Source } from './source.ts'
import { aliasMistakes, floatMistakes, syntaxMistakes } from './yaml-mistakes.ts'

export type Vars = Readonly<Record<string, string | number | boolean>>

/** One document of a file: a case to play. */
export type Case = {
  name: string
  file: string
  /** From 1, in its file. */
  number: number
  source: Source
  place: Place
  given: Given
  steps: readonly Step[]
}

export type ReadOptions = {
  /** As messages name it. */
  file: string
  text: string
  /** Those of the command line; they win over the file's. */
  vars: Vars
}

const BYTES_MAX = 1024 * 1024
const DOCUMENTS_MAX = 1_000

/** Reads a file of scenarios. All its mistakes are found at once; with any of them, nothing of it should be played. */
export function readScenarios({ file, text, vars }: ReadOptions): { cases: Case[]; mistakes: Mistake[] } {
  const source = makeSource(file, text)
  const begin: Place = { file, line: 1, column: 1, length: 1 }
  if (Buffer.byteLength(text) > BYTES_MAX)
    return { cases: [], mistakes: [makeMistake(source, begin, { message: 'the file is larger than 1 MiB' })] }
  const parsed = parseAllDocuments(text, { lineCounter: source.counter, prettyErrors: false })
  const documents = parsed.filter((document) => !isEmpty(document) || document.errors.length > 0)
  if (documents.length === 0)
    return {
      cases: [],
      mistakes: [
        makeMistake(source, begin, {
          message: 'there is no scenario in this file',
          hint: 'svc sandbox scenarios show happy-path',
        }),
      ],
    }
  if (documents.length > DOCUMENTS_MAX)
    return {
      cases: [],
      mistakes: [makeMistake(source, begin, { message: `the file has more than ${DOCUMENTS_MAX} documents` })],
    }
  const read = documents.map((document, index) => readDocument(document, { source, vars, number: index + 1 }))
  return {
    cases: read.flatMap((one) => (one.scenario === undefined ? [] : [one.scenario])),
    mistakes: read
      .flatMap((one) => one.mistakes)
      .toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column),
  }
}

/** A separator at a file's end begins a document too, in which nothing stands. */
function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null)
}

type DocumentOptions = { source: Source; vars: Vars; number: number }

function readDocument(
  document: Document,
  { source, vars, number }: DocumentOptions,
): { scenario?: Case; mistakes: Mistake[] } {
  if (document.errors.length > 0) return { mistakes: syntaxMistakes(document, source) }
  const mistakes = [...aliasMistakes(document, source), ...floatMistakes(document, source)]
  const note = (found: Explained): void => {
    const place = locate(source, document, found.path, found.what)
    // A float is told once, as such, and not again as a wrong type.
    const isTold = mistakes.some(
      (mistake) => mistake.place.line === place.line && mistake.place.column === place.column,
    )
    if (!isTold) mistakes.push(makeMistake(source, place, found))
  }
  const raw = valueOf(document)
  if (raw instanceof Error) {
    const place = locate(source, document, [], 'value')
    return { mistakes: [makeMistake(source, place, { message: `this is no YAML: ${raw.message}` })] }
  }
  const known = { ...fileVars(raw), ...vars }
  const value = withVars(raw, known)
  const frame = parse(Frame, value, { path: [], note })
  // Nothing is captured before the first step, so that variables are all that these can refer to.
  const givenValue = resolveReferences(memberOf(value, 'given'), () => undefined, { last: true })
  const given = parse(Given.optional(), givenValue, { path: [], note: () => undefined })
  const found = listOf(memberOf(value, 'steps')).map((step, index) => readStep(step, { document, source, index, note }))
  const steps = found.filter((step) => step !== undefined)
  for (const problem of checkReferences(raw, { vars: known })) note(problem)
  const place = locate(source, document, ['name'], 'value')
  if (frame === undefined || mistakes.length > 0) return { mistakes }
  return {
    scenario: { name: frame.name, file: source.file, number, source, place, given: given ?? {}, steps },
    mistakes,
  }
}

/** The value, or what is wrong with its aliases: one without its anchor, or so many that they would fill the memory. */
function valueOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function fileVars(raw: unknown): Vars {
  const vars: unknown = memberOf(raw, 'vars')
  const usable = Object.entries(typeof vars === 'object' && vars !== null ? vars : {}).flatMap(([name, value]) => {
    const parsed = VarValue.safeParse(value)
    return parsed.success ? [[name, parsed.data] as const] : []
  })
  return Object.fromEntries(usable)
}

/** Variables are filled in before anything is checked, so that what they hold is checked too. */
function withVars(raw: unknown, vars: Vars): unknown {
  const lookup = (name: string): { value: unknown } | undefined =>
    Object.hasOwn(vars, name) ? { value: vars[name] } : undefined
  return resolveReferences(raw, lookup, { last: false })
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
