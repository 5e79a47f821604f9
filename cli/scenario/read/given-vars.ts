import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { usageError } from '../../base/errors.ts'
import { VarValue } from '../language/structure.ts'
import { memberOf } from '../member.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { BYTES_MAX } from './read-documents.ts'
import { referencesIn, stringsOf } from './references.ts'
import type { Vars } from './variables.ts'

type NamedText = { label: string; path: string; text: string }

/** What a file has to do with variables: the values it declares by name, and the names it refers to. */
type Names = { label: string; declared: readonly (readonly [string, unknown])[]; referred: ReadonlySet<string> }

/**
 * The variables of the command line for each file. They are text there, and take on the type of the file's own.
 * @throws {CliError} with exit code 2 for a name that no file knows, and for a value that is not of its type
 */
export function varsOfFiles(texts: readonly NamedText[], vars: Vars): Vars[] {
  if (Object.keys(vars).length === 0) return texts.map(() => vars)
  const names = texts.map((text) => namesOf(text, new Set()))
  const readable = names.filter((one) => one !== undefined)
  // A file that is no YAML may hold any name; it is refused for what is wrong with it.
  if (readable.length === names.length) for (const name of Object.keys(vars)) refuseUnknown(name, readable)
  return names.map((one) => (one === undefined ? vars : typedFor(one, vars)))
}

/** Of the file and of those that it uses. */
function namesOf({ label, path, text }: NamedText, seen: Set<string>): Names | undefined {
  seen.add(path)
  if (text.length > BYTES_MAX) return undefined
  const documents = parseAllDocuments(text, { prettyErrors: false })
  if (documents.some(({ errors }) => errors.length > 0)) return undefined
  try {
    const values = documents.map((document): unknown => document.toJS({ maxAliasCount: 100 }))
    const strings = values.flatMap((value) => [...stringsOf(value)])
    const used = strings.flatMap((one) => usedAt(one, path)).filter((each) => !seen.has(each))
    const inner = used.map((each) => namesOf({ label, path: each, text: textOf(each) }, seen))
    return {
      label,
      declared: [...values.flatMap(declaredIn), ...inner.flatMap((one) => one?.declared ?? [])],
      referred: new Set([
        ...strings.flatMap(({ text: each }) => referencesIn(each).map(({ name }) => name)),
        ...inner.flatMap((one) => [...(one?.referred ?? [])]),
      ]),
    }
  } catch {
    // Aliases without an end: reading the file tells their place.
    return undefined
  }
}

/** The file that a text names, where it stands in `use`. */
function usedAt({ text, path: way }: { text: string; path: readonly (string | number)[] }, path: string): string[] {
  const isUse = way.at(-1) === 'use' || (way.at(-2) === 'use' && way.at(-1) === 'file')
  return isUse ? [resolve(dirname(path), text)] : []
}

/** Empty where there is none: reading the file that uses it tells that. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The values that a document gives its variables, by name; a choice and a table give several. */
function declaredIn(value: unknown): (readonly [string, unknown])[] {
  const table: unknown = memberOf(value, 'matrix')
  const rows: unknown[] = Array.isArray(table) ? table : []
  const columns = Array.isArray(table) ? {} : Object(table)
  return [
    ...Object.entries(Object(memberOf(value, 'vars'))).flatMap(([name, one]) =>
      each(name, memberOf(one, 'pick') ?? [one]),
    ),
    ...Object.entries(columns).flatMap(([name, column]) => each(name, column)),
    ...rows.flatMap((row) => Object.entries(Object(row))),
  ]
}

function each(name: string, values: unknown): (readonly [string, unknown])[] {
  return Array.isArray(values) ? values.map((value: unknown) => [name, value] as const) : []
}

function refuseUnknown(name: string, files: readonly Names[]): void {
  const declared = files.flatMap((file) => file.declared.map(([own]) => own))
  const referred = files.flatMap((file) => [...file.referred])
  if (declared.includes(name) || referred.includes(name)) return
  const meant = nearestWord(name, declared) ?? nearestWord(name, referred)
  const known = declared.length === 0 ? 'they declare none' : `there are ${[...new Set(declared)].join(', ')}`
  throw usageError(
    `--var: no file has a variable "${name}"${meant === undefined ? `; ${known}` : `: did you mean "${meant}"?`}`,
    meant === undefined ? undefined : `--var ${meant}=…`,
  )
}

function typedFor({ label, declared }: Names, vars: Vars): Vars {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => {
      const own = declared.flatMap(([declaredName, one]) => (declaredName === name ? [one] : []))
      return [name, typed({ label, name, value, own })]
    }),
  )
}

type Given = { label: string; name: string; value: Vars[string]; own: readonly unknown[] }

const RULES: Readonly<Record<string, string>> = {
  number: 'a whole number',
  boolean: 'true or false',
  object: 'a list',
}

/** Documents of one file that declare the name with different types leave it text; so does what can be no variable. */
function typed({ label, name, value, own }: Given): Vars[string] {
  const usable = own.filter((one) => VarValue.safeParse(one).success)
  const [type, ...others] = new Set(usable.map((one) => typeof one))
  if (typeof value !== 'string' || type === undefined || others.length > 0) return value
  if (type === 'string') return value
  const read = VarValue.safeParse(asYaml(value))
  if (read.success && typeof read.data === type && !('pick' in Object(read.data))) return read.data as Vars[string]
  const example = typeof own[0] === 'object' ? JSON.stringify(own[0]) : String(own[0])
  throw usageError(
    `--var: ${name} is ${RULES[type] ?? 'another kind of value'} in ${label}, and not "${value}"`,
    typeof own[0] === 'object' ? `--var '${name}=${example}'` : `--var ${name}=${example}`,
  )
}

/** As the file would read it. */
function asYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return text
  }
}
