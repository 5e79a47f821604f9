import { isMap, isNode, isScalar, isSeq, parseAllDocuments, visit } from 'yaml'
import type { Document, LineCounter, Pair, Scalar, YAMLMap } from 'yaml'
import { KybStatus } from '../../../src/wire/admin.ts'
import { memberOf } from '../member.ts'
import { syntaxMistakes } from './yaml-mistakes.ts'
import { newNamesOf, renamedStep } from './renamed-verbs.ts'
import type { Renamed } from './renamed-verbs.ts'
import { makeMistake, makeSource, placeOf } from './source.ts'
import type { Mistake, Source } from './source.ts'

/** The lines of a step before and after; `line` counts from 1. */
type Change = { line: number; before: string; after: string }
type Migrated = { text: string; changes: Change[]; mistakes: Mistake[] }
type Edit = { from: number; to: number; text: string }

/** A file with verbs of before as it is today. Only these verbs and their members are written over; all else stays. */
export function migrateVerbs(file: string, text: string): Migrated {
  const source = makeSource(file, text)
  const documents = parseAllDocuments(text, { lineCounter: source.counter, prettyErrors: false })
  const mistakes: Mistake[] = documents.flatMap((document) => syntaxMistakes(document, source))
  if (mistakes.length > 0) return { text, changes: [], mistakes }
  const steps = documents.flatMap((document) => editsOf(document, { source, text, mistakes }))
  const changes = steps.map((edits) => changeOf(edits, text, source.counter))
  return { text: applied(steps.flat(), text), changes, mistakes }
}

type Reading = { source: Source; text: string; mistakes: Mistake[] }

/** The edits of each step with a verb of before, in the order of the file. */
function editsOf(document: Document, { source, text, mistakes }: Reading): Edit[][] {
  const statuses = new Map<unknown, KybStatus>()
  const steps: Edit[][] = []
  visit(document, {
    Pair(_index, { key, value }: Pair, path) {
      if (!isScalar(key) || !isMap(value)) return
      const verb = String(key.value)
      const input: unknown = value.toJS(document)
      rememberStatus(statuses, verb, input)
      const names = newNamesOf(verb)
      // A step stands in a list; elsewhere the word means something else.
      if (names === undefined || !isSeq(path.at(-2))) return
      const of = memberOf(input, 'of') ?? '$merchant'
      const renamed = renamedStep(verb, { input, status: statuses.get(of) ?? 'APPROVED' })
      if (renamed === undefined)
        mistakes.push(makeMistake(source, placeOf(source, rangeOf(key)), undecided(verb, names)))
      else steps.push([{ ...spanOf(key), text: like(key, renamed.verb) }, ...memberEdits(value, renamed, text)])
      const status = KybStatus.safeParse(memberOf(input, 'status'))
      if (verb === 'kyb' && status.success) statuses.set(of, status.data)
    },
  })
  return steps
}

function undecided(verb: string, names: readonly string[]): { message: string; hint: string } {
  return {
    message: `"${verb}" is now ${names.join(' or ')}, and this step does not say which`,
    hint: `${names[0]}: { … }, or an http: step for a request that no command makes`,
  }
}

/** How merchants begin follows from how they are made. */
function rememberStatus(statuses: Map<unknown, KybStatus>, verb: string, input: unknown): void {
  const name = memberOf(input, 'as')
  const whom = name === undefined ? '$merchant' : `$${String(name)}`
  if (verb === 'register') statuses.set(whom, 'PENDING')
  if (verb === 'merchant') statuses.set(whom, KybStatus.safeParse(memberOf(input, 'kyb')).data ?? 'APPROVED')
}

function memberEdits({ items, range, flow }: YAMLMap, { members = {} }: Renamed, text: string): Edit[] {
  const pairs = items.flatMap(({ key, value }) => {
    if (!isScalar(key)) return []
    const [from, end] = rangeOf(key)
    const to = isNode(value) ? rangeOf(value)[1] : end
    return [{ key, from, to, now: members[String(key.value)] }]
  })
  const left = pairs.filter(({ now }) => now !== null)
  const [begin, end] = rangeOf({ range })
  if (left.length === 0) return [{ from: begin, to: flow === true ? end : (pairs.at(-1)?.to ?? end), text: '{}' }]
  return pairs.flatMap(({ key, from, to, now }, index): Edit[] => {
    if (typeof now === 'string') return [{ ...spanOf(key), text: like(key, now) }]
    if (now === undefined) return []
    const next = pairs[index + 1]?.from
    if (next === undefined) return [{ from: pairs[index - 1]?.to ?? from, to, text: '' }]
    // What stands between it and the next is a comma, or the end of a line and maybe a comment, which stays.
    return [{ from, to: text.slice(to, next).includes('#') ? to : next, text: '' }]
  })
}

/** The lines that a step's edits are in, before and after. */
function changeOf(edits: readonly Edit[], text: string, counter: LineCounter): Change {
  const from = text.lastIndexOf('\n', edits[0]?.from ?? 0) + 1
  const last = Math.max(...edits.map(({ to }) => to))
  const end = text.indexOf('\n', last)
  const before = text.slice(from, end === -1 ? text.length : end)
  const moved = edits.map((edit) => ({ ...edit, from: edit.from - from, to: edit.to - from }))
  return { line: counter.linePos(from).line, before, after: applied(moved, before) }
}

function applied(edits: readonly Edit[], text: string): string {
  return edits
    .toSorted((one, other) => other.from - one.from)
    .reduce((done, { from, to, text: written }) => `${done.slice(0, from)}${written}${done.slice(to)}`, text)
}

/** In quotes where the word of before was. */
function like({ type }: Scalar, word: string): string {
  return type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE' ? `"${word}"` : word
}

function spanOf(node: Scalar): { from: number; to: number } {
  const [from, to] = rangeOf(node)
  return { from, to }
}

function rangeOf({ range }: { range?: [number, number, number] | null | undefined }): [number, number] {
  return [range?.[0] ?? 0, range?.[1] ?? 0]
}
