import { parse, parseAllDocuments } from 'yaml'
import { usageError } from '../errors.ts'
import { findScenarioFiles, readScenarioFile } from './find-files.ts'
import { VarValue } from './language.ts'
import { memberOf } from './member.ts'
import { nearestWord } from './nearest.ts'
import { readScenarios } from './read-scenarios.ts'
import type { Case, Vars } from './read-scenarios.ts'
import { referencesIn, stringsOf } from './references.ts'
import type { Mistake } from './source.ts'

export type Loaded = { cases: Case[]; mistakes: Mistake[]; files: number }

/**
 * Reads all cases that the words mean, in order, and all mistakes of all files.
 * @throws {CliError} with exit code 2 for a word that means no file, and for variables that no file takes
 */
export function loadScenarios(words: readonly string[], options: { cwd: string; vars: Vars }): Loaded {
  const files = findScenarioFiles(words, options.cwd)
  const texts = files.map((file) => ({ file: file.label, text: readScenarioFile(file) }))
  const vars = varsOfFiles(texts, options.vars)
  const read = texts.map((one, index) => readScenarios({ ...one, vars: vars[index] ?? options.vars }))
  return { cases: read.flatMap((one) => one.cases), mistakes: read.flatMap((one) => one.mistakes), files: files.length }
}

type NamedText = { file: string; text: string }

/** What a file has to do with variables: the values it declares by name, and the names it refers to. */
type Names = { file: string; declared: ReadonlyMap<string, readonly unknown[]>; referred: ReadonlySet<string> }

/**
 * The variables of the command line for each file. They are text there, and take on the type of the file's own.
 * @throws {CliError} with exit code 2 for a name that no file knows, and for a value that is not of its type
 */
function varsOfFiles(texts: readonly NamedText[], vars: Vars): Vars[] {
  if (Object.keys(vars).length === 0) return texts.map(() => vars)
  const names = texts.map(namesOf)
  const readable = names.filter((one) => one !== undefined)
  // A file that is no YAML may hold any name; it is refused for what is wrong with it.
  if (readable.length === names.length) for (const name of Object.keys(vars)) refuseUnknown(name, readable)
  return names.map((one) => (one === undefined ? vars : typedFor(one, vars)))
}

const CHARACTERS_MAX = 1024 * 1024

function namesOf({ file, text }: NamedText): Names | undefined {
  if (text.length > CHARACTERS_MAX) return undefined
  const documents = parseAllDocuments(text, { prettyErrors: false })
  if (documents.some(({ errors }) => errors.length > 0)) return undefined
  try {
    const values = documents.map((document): unknown => document.toJS({ maxAliasCount: 100 }))
    const own = values.flatMap((value) => Object.entries(Object(memberOf(value, 'vars'))))
    const strings = values.flatMap((value) => [...stringsOf(value)])
    return {
      file,
      declared: new Map(own.map(([name]) => [name, own.filter(([other]) => other === name).map(([, value]) => value)])),
      referred: new Set(strings.flatMap(({ text: each }) => referencesIn(each).map(({ name }) => name))),
    }
  } catch {
    // Aliases without an end: reading the file tells their place.
    return undefined
  }
}

function refuseUnknown(name: string, files: readonly Names[]): void {
  const declared = files.flatMap((file) => [...file.declared.keys()])
  const referred = files.flatMap((file) => [...file.referred])
  if (declared.includes(name) || referred.includes(name)) return
  const meant = nearestWord(name, declared) ?? nearestWord(name, referred)
  const known = declared.length === 0 ? 'they declare none' : `there are ${[...new Set(declared)].join(', ')}`
  throw usageError(
    `--var: no file has a variable "${name}"${meant === undefined ? `; ${known}` : `: did you mean "${meant}"?`}`,
    meant === undefined ? undefined : `--var ${meant}=…`,
  )
}

function typedFor({ file, declared }: Names, vars: Vars): Vars {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [name, typed({ file, name, value, own: declared.get(name) ?? [] })]),
  )
}

type Given = { file: string; name: string; value: Vars[string]; own: readonly unknown[] }

/** Documents of one file that declare the name with different types leave it text; so does what can be no variable. */
function typed({ file, name, value, own }: Given): Vars[string] {
  const usable = own.filter((each) => VarValue.safeParse(each).success)
  const [type, ...others] = new Set(usable.map((each) => typeof each))
  if (typeof value !== 'string' || type === undefined || others.length > 0) return value
  if (type === 'string') return value
  const read = VarValue.safeParse(asYaml(value))
  if (read.success && typeof read.data === type) return read.data
  const rule = type === 'number' ? 'a whole number' : 'true or false'
  throw usageError(`--var: ${name} is ${rule} in ${file}, and not "${value}"`, `--var ${name}=${String(own[0])}`)
}

/** As the file would read it. */
function asYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return text
  }
}

/** Reads `--var name=value`. */
export function readVars(words: readonly string[]): Vars {
  return Object.fromEntries(
    words.map((word) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? []
      if (name === undefined || value === undefined)
        throw usageError(`--var: "${word}" is no name=value`, '--var amount=12.50')
      return [name, value]
    }),
  )
}

/**
 * The cases that `--only` names: by number as they are counted in this run, or by a part of the name.
 * @throws {CliError} with exit code 2 when it names none
 */
export function onlyCases(cases: readonly Case[], only: string | undefined): Case[] {
  if (only === undefined) return [...cases]
  const byNumber = cases.find((_case, index) => String(index + 1) === only)
  if (byNumber !== undefined) return [byNumber]
  const wanted = only.toLowerCase()
  const exact = cases.filter(({ name }) => name.toLowerCase() === wanted)
  const found = exact.length > 0 ? exact : cases.filter(({ name }) => name.toLowerCase().includes(wanted))
  if (found.length === 0)
    throw usageError(
      `--only: there is no case "${only}"; there are ${cases.map(({ name }, index) => `${index + 1} (${name})`).join(', ')}`,
    )
  return found
}
