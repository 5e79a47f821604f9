import type { Explained } from './explain.ts'
import { VERBS, isVerb } from '../language.ts'
import { referenceFieldsOf } from '../language/parts.ts'
import type { ReferenceKind, Makes, VerbTable } from '../language/parts.ts'
import { memberOf } from '../member.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { referencesIn, stringsOf } from './references.ts'
import type { Reference } from './references.ts'
import type { Path } from './source.ts'

/** What a name stands for, and the members it has as far as they are known. */
export type Known = {
  kind: 'var' | Makes['kind']
  members: readonly string[] | undefined
}

/** The verb whose steps make such a thing; await only gives a name to what is there. */
function makerOf(kind: ReferenceKind): string | undefined {
  return Object.entries<VerbTable[string]>(VERBS).find(
    ([verb, { makes }]) => verb !== 'await' && makes?.kind === kind,
  )?.[0]
}

/** The names that can be referred to at a place, those that come later, and those that come at the same time. */
export type Names = {
  known: ReadonlyMap<string, Known>
  later: ReadonlySet<string>
  beside?: ReadonlySet<string> | undefined
}

/** Finds references to names that do not exist, or not yet, in a step or in what is given; paths begin there. */
export function checkReferences(value: unknown, names: Names): Explained[] {
  return [...stringsOf(value)].flatMap(({ text, path }) => {
    return referencesIn(text).flatMap((reference) => {
      const problem = problemOf(reference, {
        ...names,
        wanted: wantedAt(path),
      })
      return problem === undefined ? [] : [{ path, what: 'value' as const, ...problem }]
    })
  })
}

/** What the field of a step may name, where it names something as a whole. */
function wantedAt(path: Path): readonly ReferenceKind[] {
  const [verb, field] = path
  if (verb === 'acting_as') return ['merchant']
  if (path.length !== 2 || typeof verb !== 'string' || !isVerb(verb)) return []
  return referenceFieldsOf(VERBS[verb].schema).get(String(field)) ?? []
}

type Problem = { message: string; hint?: string | undefined }

function problemOf(
  reference: Reference,
  { known, later, beside, wanted }: Names & { wanted: readonly ReferenceKind[] },
): Problem | undefined {
  const { text, name, path, isWhole } = reference
  const found = known.get(name)
  if (found === undefined) return unknownName(text, name, { known, later, beside })
  const isWanted = wanted.some((kind) => kind === found.kind)
  const [kind] = wanted
  if (kind !== undefined && !isWanted)
    return {
      message: `${text} is not valid here: expected ${wanted.join(' or ')}; only a step ${[...new Set(wanted.map(makerOf))].join(' or ')} makes one`,
    }
  if (kind !== undefined && path !== '')
    return { message: `${text} is a part of a ${found.kind}; here the ${found.kind} itself is named`, hint: `$${name}` }
  if (isWanted) return undefined
  if (found.kind === 'var' && found.members === undefined)
    return path === '' ? undefined : { message: `$${name} is a variable; it has no members` }
  if (path === '')
    return isWhole
      ? undefined
      : {
          message: `${text} is a whole ${found.kind} inside a text: say which part of it`,
          hint: `$${name}.${found.members?.[0] ?? 'body'}`,
        }
  const member = /^\.(\w+)/.exec(path)?.[1]
  if (found.members === undefined || member === undefined || found.members.includes(member)) return undefined
  const meant = nearestWord(member, found.members)
  return {
    message: `${text}: "${name}" has no "${member}"${meant === undefined ? '' : `: did you mean $${name}.${meant}?`}`,
    hint: meant === undefined ? `one of ${found.members.join(', ')}` : undefined,
  }
}

function unknownName(text: string, name: string, { known, later, beside }: Names): Problem {
  if (beside?.has(name) === true)
    return {
      message: `${text} is made at the same time, in another branch of parallel`,
      hint: 'a step behind parallel: what its branches make is there then',
    }
  if (later.has(name))
    return {
      message: `${text} is used before the step that makes it`,
      hint: 'the steps in the order in which they happen',
    }
  const names = [...known.keys()]
  const meant = nearestWord(name, names)
  return {
    message: `unknown reference ${text}${meant === undefined ? '' : `: did you mean $${meant}?`}`,
    hint:
      meant === undefined
        ? `a name given with "as" in a step before, or in vars; here are ${names.map((known) => `$${known}`).join(', ')}; a plain dollar sign is $$`
        : undefined,
  }
}

export function captureOf(step: unknown): { name: string; verb: string; known: Known } | undefined {
  for (const [verb, { makes }] of Object.entries<VerbTable[string]>(VERBS)) {
    const name = memberOf(memberOf(step, verb), 'as')
    if (makes !== undefined && typeof name === 'string') return { name, verb, known: makes }
  }
  return captureOfUnknownVerb(step)
}

/** A misspelt verb is reported as such; that its name is not known either would only be noise. */
function captureOfUnknownVerb(step: unknown): { name: string; verb: string; known: Known } | undefined {
  // Fields that stand beside their verb instead of below it are reported as such, too.
  const beside = memberOf(step, 'as')
  if (typeof beside === 'string') return { name: beside, verb: 'as', known: { kind: 'payment', members: undefined } }
  for (const [verb, value] of Object.entries(Object(step))) {
    const name = memberOf(value, 'as')
    if (typeof name === 'string') return { name, verb, known: { kind: 'payment', members: undefined } }
  }
  return undefined
}
