import { checkParts, knownVars } from './check-parts.ts'
import { checkReferences } from './check-references.ts'
import type { Explained } from './explain.ts'
import { Frame } from './file-schema.ts'
import { CaseSetup } from '../language.ts'
import type { Row } from './read-scenarios.ts'
import { memberOf } from '../member.ts'
import { collectMistakes } from './document.ts'
import type { NoteIn, Opened } from './document.ts'
import { stepsOf, parse, readStep } from './read-step.ts'
import type { Plan, Step } from './read-step.ts'
import { resolveReferences } from './references.ts'
import { locate } from './source.ts'
import type { Mistake, Place, Source } from './source.ts'
import { STEPS_MAX, spreadSteps } from './expand.ts'
import type { Part } from './expand.ts'
import type { UsedFiles } from './use-file.ts'
import { RESERVED_NAMES, withVars } from './variables.ts'
import type { Vars } from './variables.ts'

/** One document of a file, or one row of its table: a case to play. */
export type Case = {
  name: string
  file: string
  /** From 1, in its file. */
  number: number
  /** Names it in a run, whatever else is played in it. */
  key: string
  tags: readonly string[]
  source: Source
  place: Place
  given: CaseSetup
  plan: Plan
  steps: readonly Step[]
}

export type CaseOptions = {
  row: Row
  key: string
  vars: Vars
  /** Those of the command line. */
  given: Vars
  files: UsedFiles
  /** The path of the file, where it has one. */
  path: string | undefined
}

/** Reads a case; with any mistake there is none. Its number is for the file to give. */
export function readCase(
  opened: Opened,
  { row, key, vars, given: commandLine, files, path }: CaseOptions,
): { scenario?: Omit<Case, 'number'>; mistakes: Mistake[] } {
  const { source, document, raw } = opened
  const { mistakes, noteIn } = collectMistakes(opened.mistakes)
  const note = noteIn.bind(undefined, opened)
  const value = withVars(raw, vars)
  const frame = parse(Frame, value, { path: [], note: (found) => note(withBeginning(found)) })
  for (const field of ['vars', 'matrix'])
    for (const name of RESERVED_NAMES.filter((each) => memberOf(memberOf(raw, field), each) !== undefined))
      note({
        path: [field, name],
        what: 'key',
        message: `the name "${name}" is taken already: $${name} is always there`,
      })
  // Nothing is captured before the first step, so that variables are all that these can refer to.
  const names = { known: knownVars(vars), later: new Set<string>() }
  for (const problem of checkReferences(memberOf(value, 'given'), names))
    note({ ...problem, path: ['given', ...problem.path] })
  const givenValue = resolveReferences(memberOf(value, 'given'), () => undefined, { last: true })
  const given = parse(CaseSetup.optional(), givenValue, { path: [], note: () => undefined })
  const scope = { vars, opened, path: ['steps'], round: '', prefix: '', chain: path === undefined ? [] : [path] }
  const spreading = { noteIn, given: commandLine, files, left: STEPS_MAX }
  const parts = spreadSteps(memberOf(raw, 'steps'), scope, spreading)
  const plan = planOf(parts, { noteIn, count: 0 })
  checkParts(parts, noteIn)
  if (frame === undefined || mistakes.length > 0) return { mistakes }
  const name = row.text === '' ? frame.name : `${frame.name} (${row.text})`
  const place = locate(source, document, ['name'], 'value')
  const head = { name, file: source.file, key, tags: frame.tags ?? [], source, place, given: given ?? {} }
  return { scenario: { ...head, plan, steps: stepsOf(plan) }, mistakes }
}

/** A file of something else altogether. */
function withBeginning(found: Explained): Explained {
  if (found.path.length > 0 || found.what !== 'value') return found
  const message = `a scenario begins with "scenario: v1", then come name and steps; this ${found.message}`
  return { ...found, message, hint: 'svc sandbox scenarios create "my first scenario" writes one to begin with' }
}

type Planning = { noteIn: NoteIn; count: number }

/** Reads the steps, each by its verb's schema; those with mistakes are left out. */
function planOf(parts: readonly Part[], planning: Planning): Plan {
  return parts.flatMap((part): Plan => {
    if (part.kind === 'local') return []
    if (part.kind === 'parallel') return [{ branches: part.branches.map((branch) => planOf(branch, planning)) }]
    planning.count += 1
    const { opened, path, label, round } = part
    const note = planning.noteIn.bind(undefined, opened)
    const step = readStep(part.value, { opened, path, label, round, number: planning.count, note })
    return step === undefined ? [] : [step]
  })
}
