import { parse } from 'yaml'
import { usageError } from '../../base/errors.ts'
import { VarValue } from '../language/structure.ts'
import type { VarItem } from '../language/structure.ts'
import { memberOf } from '../member.ts'
import { referencesIn, resolveReferences, stringsOf } from './references.ts'

/** The variables that are known at a place, by name: texts, whole numbers, true and false, and lists and mappings of them. */
export type Vars = Readonly<Record<string, VarItem | readonly VarItem[]>>

/** Names that are there in every scenario, so that no variable can have them. */
export const RESERVED_NAMES: readonly string[] = ['merchant']

/** The variables that a document declares; what can be none is left out, and reported by its frame's schema. */
export function varsOf(raw: unknown): Vars {
  return Object.fromEntries(
    Object.entries(Object(memberOf(raw, 'vars'))).flatMap(([name, value]) => {
      const parsed = VarValue.safeParse(value)
      return parsed.success ? [[name, parsed.data] as const] : []
    }),
  )
}

/** The names that documents declare, in their variables and tables, and those that they refer to. */
export function namesIn(raws: readonly unknown[]): { declared: string[]; referred: string[] } {
  return {
    declared: raws.flatMap((raw) => {
      const table = memberOf(raw, 'matrix')
      return [memberOf(raw, 'vars'), ...(Array.isArray(table) ? table : [table])].flatMap((each) =>
        Object.keys(Object(each)),
      )
    }),
    referred: raws.flatMap((raw) =>
      [...stringsOf(raw)].flatMap(({ text }) => referencesIn(text).map(({ name }) => name)),
    ),
  }
}

const RULES: Readonly<Record<string, string>> = {
  number: 'a whole number',
  boolean: 'true or false',
  object: 'a list',
}

/**
 * A value of the command line, which is text there, with the type of the file's own.
 * @throws {CliError} with exit code 2 for what is not of its type
 */
export function typedLike(own: Vars[string], value: Vars[string], at: { name: string; file: string }): Vars[string] {
  if (typeof own === 'string' || typeof value !== 'string') return value
  const read = VarValue.safeParse(asYaml(value))
  if (read.success && typeof read.data === typeof own) return read.data
  const example = typeof own === 'object' ? `'${at.name}=${JSON.stringify(own)}'` : `${at.name}=${own}`
  const rule = RULES[typeof own] ?? 'another kind of value'
  throw usageError(`--var: ${at.name} is ${rule} in ${at.file}, and not "${value}"`, `--var ${example}`)
}

/** As the file would read it. */
function asYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return text
  }
}

/** The variables of the command line, each with the type of the file's own where it has one. */
export function givenFor(own: Vars, given: Vars, file: string): Vars {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const declared = Object.hasOwn(own, name) ? own[name] : undefined
      return [name, declared === undefined ? value : typedLike(declared, value, { name, file })]
    }),
  )
}

/** Fills variables in. That is done before anything is checked, so that what they hold is checked too. */
export function withVars(raw: unknown, vars: Vars): unknown {
  return resolveReferences(raw, (name) => (Object.hasOwn(vars, name) ? { value: vars[name] } : undefined), {
    last: false,
  })
}

const SHOWN_MAX = 40

/** Variables in one line, as the name of a case shows them: `amount=1.00, currency=EUR`. */
export function varsText(vars: Vars): string {
  return Object.entries(vars)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(', ')
}

function shown(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
