import { captureOf, checkReferences } from './check-references.ts'
import { MERCHANT } from '../verbs/merchants.ts'
import type { Known } from './check-references.ts'
import type { NoteIn } from './document.ts'
import type { Part, WrittenStep } from './expand.ts'
import type { Vars } from './variables.ts'

/** Where a name was given: the same place may give it again, in another round of a loop. */
type Definition = Known & { at: string }

type Walk = {
  noteIn: NoteIn
  known: Map<string, Definition>
  later: ReadonlySet<string>
  /** Names of branches that run at the same time. */
  beside: ReadonlySet<string>
}

export function checkParts(parts: readonly Part[], noteIn: NoteIn): void {
  const later = new Set(namesIn(parts))
  walk(parts, { noteIn, known: new Map([['merchant', { ...MERCHANT, at: '' }]]), later, beside: new Set() })
}

/** Variables as names that can be referred to. Those of a step are filled in already: what is left of them is wrong. */
export function knownVars(vars: Vars): Map<string, Known> {
  return new Map(
    Object.entries(vars).map(([name, value]) => {
      const members = typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : undefined
      return [name, { kind: 'var', members }]
    }),
  )
}

function walk(parts: readonly Part[], state: Walk): void {
  for (const part of parts) {
    if (part.kind === 'parallel') walkBranches(part.branches, state)
    else if (part.kind === 'step') checkStep(part, state)
    else if (state.known.has(part.name))
      state.noteIn(part.opened, { path: part.path, what: 'value', message: takenText(part.name) })
  }
}

function checkStep({ value, vars, opened, path }: WrittenStep, { noteIn, known, later, beside }: Walk): void {
  const names = { known: new Map([...knownVars(vars), ...known]), later, beside }
  for (const problem of checkReferences(value, names)) noteIn(opened, { ...problem, path: [...path, ...problem.path] })
  const capture = captureOf(value)
  if (capture === undefined) return
  const at = `${opened.source.file}:${path.join('/')}`
  const before = known.get(capture.name)
  const isTaken = before === undefined ? Object.hasOwn(vars, capture.name) : before.at !== at
  const message = isTaken
    ? takenText(capture.name)
    : beside.has(capture.name)
      ? `the name "${capture.name}" is given at the same time in another branch of parallel`
      : undefined
  if (message !== undefined) noteIn(opened, { path: [...path, capture.verb, 'as'], what: 'value', message })
  known.set(capture.name, { ...capture.known, at })
}

/** What a branch makes is there for the steps behind all of them, and not for the other branches. */
function walkBranches(branches: readonly (readonly Part[])[], state: Walk): void {
  const names = branches.map(namesIn)
  const ended = branches.map((branch, index) => {
    const known = new Map(state.known)
    const beside = new Set([...state.beside, ...names.flatMap((each, other) => (other === index ? [] : each))])
    walk(branch, { ...state, known, beside })
    return known
  })
  for (const known of ended) for (const [name, given] of known) state.known.set(name, given)
}

function namesIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.kind === 'parallel') return part.branches.flatMap(namesIn)
    const name = part.kind === 'step' ? captureOf(part.value)?.name : undefined
    return name === undefined ? [] : [name]
  })
}

function takenText(name: string): string {
  return `the name "${name}" is taken already`
}
