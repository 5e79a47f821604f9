import type { Explained } from './explain.ts'
import { AT_ONCE_MAX, STRUCTURES, isStructure } from '../language/structure.ts'
import type { Structure } from '../language/structure.ts'
import { memberOf } from '../member.ts'
import type { NoteIn, Opened } from './document.ts'
import { parseNamed } from './read-step.ts'
import type { Path } from './source.ts'
import { openUsed } from './use-file.ts'
import type { UsedFiles } from './use-file.ts'
import { givenFor, varsText, withVars } from './variables.ts'
import type { Vars } from './variables.ts'

/** A step where it stands, with its variables filled in and nothing of it checked yet. */
export type WrittenStep = {
  kind: 'step'
  value: unknown
  vars: Vars
  opened: Opened
  path: Path
  /** Its number as reports show it: 3, or 3.1.2 inside of another. */
  label: string
  /** The round of the loops it stands in, as titles show it; empty outside of any. */
  round: string
}

/** What the steps of a document come to: loops and used files are spread out, branches that run at once are not. */
export type Part =
  | WrittenStep
  | { kind: 'local'; name: string; opened: Opened; path: Path }
  | { kind: 'parallel'; branches: readonly (readonly Part[])[] }

type Scope = Pick<WrittenStep, 'vars' | 'opened' | 'path' | 'round'> & {
  /** The number of what the steps are inside of, with a dot behind it; empty outside. */
  prefix: string
  /** The files that led here, each used by the one before it. */
  chain: readonly string[]
}

export type Spreading = {
  noteIn: NoteIn
  /** Those of the command line. */
  given: Vars
  files: UsedFiles
  /** How many steps, loops and uses of files there may still be: around nothing, loops would take for ever. */
  left: number
}

/** As many steps may a case have, once everything is spread out; loops and uses of files count too. */
export const STEPS_MAX = 2_000

/** Spreads a list of steps out, at `scope.path`. What is wrong with its structure is noted. */
export function spreadSteps(raw: unknown, scope: Scope, spreading: Spreading): Part[] {
  const steps: unknown[] = Array.isArray(raw) ? raw : []
  return steps.flatMap((step, index) =>
    spreadStep(step, { ...scope, path: [...scope.path, index] }, { ...position(scope, index), spreading }),
  )
}

type Position = { label: string; spreading: Spreading }

function position({ prefix }: Scope, index: number): { label: string } {
  return { label: `${prefix}${index + 1}` }
}

function spreadStep(raw: unknown, scope: Scope, { label, spreading }: Position): Part[] {
  const words = typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.keys(raw) : []
  const structure = words.find(isStructure)
  if (spreading.left < 0) return []
  const { opened, path, vars, round } = scope
  const note = (found: Explained): void => spreading.noteIn(opened, found)
  spreading.left -= 1
  if (spreading.left < 0) {
    note({ path, what: 'value', message: `with everything spread out, these are more than ${STEPS_MAX} steps` })
    return []
  }
  if (structure === undefined) return [{ kind: 'step', value: withVars(raw, vars), vars, opened, path, label, round }]
  for (const word of words.filter((one) => one !== structure))
    note({
      path: [...path, word],
      what: 'key',
      message: `"${word}" can't be combined with ${structure}`,
      hint: 'beside the verb of a step inside of it, or as a step of its own',
    })
  return SPREADERS[structure](raw, { ...scope, prefix: `${label}.` }, spreading)
}

const SPREADERS: Readonly<Record<Structure, (raw: unknown, scope: Scope, spreading: Spreading) => Part[]>> = {
  parallel: spreadParallel,
  for_each: spreadLoop,
  use: spreadUse,
}

function spreadParallel(raw: unknown, scope: Scope, spreading: Spreading): Part[] {
  const { path, opened } = scope
  const note = (found: Explained): void => spreading.noteIn(opened, found)
  const written = parseNamed('parallel', STRUCTURES.parallel.schema, raw, { path, note })
  const branches = (written ?? []).map((branch, index) => {
    const { label } = position(scope, index)
    const inside = { ...scope, path: [...path, 'parallel', index] }
    return Array.isArray(branch)
      ? spreadSteps(branch, { ...inside, prefix: `${label}.` }, spreading)
      : spreadStep(branch, inside, { label, spreading })
  })
  return [{ kind: 'parallel', branches }]
}

function spreadLoop(raw: unknown, scope: Scope, spreading: Spreading): Part[] {
  const { path, opened, vars } = scope
  const note = (found: Explained): void => spreading.noteIn(opened, found)
  const written = memberOf(raw, 'for_each')
  const items = withVars(memberOf(written, 'in'), vars)
  const header = typeof written === 'object' && items !== undefined ? { ...written, in: items } : written
  const loop = parseNamed('for_each', STRUCTURES.for_each.schema, { for_each: header }, { path, note })
  if (loop === undefined) return []
  if (typeof loop.in === 'string') {
    note({
      path: [...path, 'for_each', 'in'],
      what: 'value',
      message: `in must be a list, or a variable that is one; ${loop.in} is none`,
      hint: 'loops are spread out before anything is played: what a step makes is not there yet',
    })
    return []
  }
  const local: Part = { kind: 'local', name: loop.as, opened, path: [...path, 'for_each', 'as'] }
  const rounds = loop.in.map((item, index) => {
    const own = { [loop.as]: item }
    return spreadSteps(
      loop.steps,
      {
        ...scope,
        path: [...path, 'for_each', 'steps'],
        vars: { ...vars, ...own },
        prefix: `${position(scope, index).label}.`,
        round: [scope.round, varsText(own)].filter((text) => text !== '').join(', '),
      },
      spreading,
    )
  })
  if (loop.at_once !== true) return [local, ...rounds.flat()]
  if (rounds.length > AT_ONCE_MAX)
    note({
      path: [...path, 'for_each', 'at_once'],
      what: 'key',
      message: `${rounds.length} rounds are more than the ${AT_ONCE_MAX} that can be played at once`,
    })
  return [local, { kind: 'parallel', branches: rounds }]
}

function spreadUse(raw: unknown, scope: Scope, spreading: Spreading): Part[] {
  const { path, opened, vars } = scope
  const note = (found: Explained): void => spreading.noteIn(opened, found)
  const value = parseNamed('use', STRUCTURES.use.schema, withVars(raw, vars), { path, note })
  if (value === undefined) return []
  const { file, vars: own = {} } = typeof value === 'string' ? { file: value } : value
  const used = openUsed(file, { ...spreading, chain: scope.chain, asks: { path: [...path, 'use'], note } })
  if (used === undefined) return []
  const declared = new Set(Object.keys(used.vars))
  for (const name of Object.keys(own).filter((one) => !declared.has(one)))
    note({
      path: [...path, 'use', 'vars', name],
      what: 'key',
      message: `${file} has no variable "${name}"`,
      hint: declared.size === 0 ? `vars: { ${name}: … } in ${file}` : `one of ${[...declared].join(', ')}`,
    })
  // The command line wins over what files declare, and not over what a file says of its own part.
  const meant = Object.fromEntries(Object.entries(spreading.given).filter(([name]) => declared.has(name)))
  const given = givenFor(used.vars, meant, file)
  const inside = {
    ...scope,
    opened: used.opened,
    path: ['steps'],
    vars: { ...vars, ...used.vars, ...given, ...own },
    chain: used.chain,
  }
  return spreadSteps(memberOf(used.opened.raw, 'steps'), inside, spreading)
}
