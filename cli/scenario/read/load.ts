import { basename } from 'node:path'
import { usageError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { findScenarioFiles, readScenarioFile } from './find-files.ts'
import type { Case } from './read-case.ts'
import { readScenarios } from './read-scenarios.ts'
import type { Read } from './read-scenarios.ts'
import { distinct } from './source.ts'
import type { Mistake } from './source.ts'
import type { Vars } from './variables.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'

export type Loaded = {
  cases: Case[]
  mistakes: Mistake[]
  files: number
}

export type LoadOptions = {
  cwd: string
  vars: Vars
  /** The paths that this run writes its reports to. */
  reports?: ReadonlySet<string> | undefined
}

/** As many cases may a run have: each takes memory until the run has ended. */
const CASES_MAX = 20_000

/**
 * Reads all cases that the words mean, in order, and all mistakes of all files.
 * @throws {CliError} with exit code 2 for a word that means no file, for variables that no file takes, and where nothing
 * but parts of scenarios is meant
 */
export function loadScenarios(words: readonly string[], options: LoadOptions): Loaded {
  const { cwd, vars } = options
  const files = findScenarioFiles(words, options).map((file) => ({ ...file, text: readScenarioFile(file) }))
  const read = files.map(({ label, path, text }) => readScenarios({ file: label, text, path, cwd, vars }))
  for (const name of Object.keys(vars)) refuseUnknown(name, read)
  const cases = read.flatMap((one) => one.cases)
  if (cases.length > CASES_MAX)
    throw usageError(`a run has at most ${CASES_MAX} cases`, 'smaller tables, or several runs')
  const mistakes = distinct(read.flatMap((one) => one.mistakes))
  if (cases.length === 0 && mistakes.length === 0)
    throw usageError(
      'there is no case here: all of it is "scenario: part", which other files use for its steps',
      `use: ./${basename(files[0]?.path ?? 'common.yaml')} in a scenario`,
    )
  return { cases, mistakes, files: files.length }
}

/** A file that is no YAML may hold any name; it is refused for what is wrong with it. */
function refuseUnknown(name: string, read: readonly Read[]): void {
  if (read.some(({ names }) => names === undefined)) return
  const declared = read.flatMap(({ names }) => names?.declared ?? [])
  const referred = read.flatMap(({ names }) => names?.referred ?? [])
  if (declared.includes(name) || referred.includes(name)) return
  const meant = nearestWord(name, [...declared, ...referred])
  const known = declared.length === 0 ? 'they declare none' : `there are ${[...new Set(declared)].join(', ')}`
  throw usageError(
    `--var: no file has a variable "${name}"${meant === undefined ? `; ${known}` : `: did you mean "${meant}"?`}`,
    meant === undefined ? undefined : `--var ${meant}=…`,
  )
}

export function readVars(words: readonly string[]): Vars {
  return Object.fromEntries(
    words.map((word) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? []
      if (name === undefined || value === undefined)
        throw usageError(`--var: invalid variable "${word}": use name=value`, '--var amount=12.50')
      return [name, value]
    }),
  )
}

/** As many cases as an error names. */
const SHOWN_CASES_MAX = 10

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
  if (found.length === 0) {
    const shown = cases.slice(0, SHOWN_CASES_MAX).map(({ name }, index) => `${index + 1} (${name})`)
    const more = cases.length > shown.length ? `, and so on to ${cases.length}` : ''
    throw usageError(`--only: case not found: ${only}; use one of ${shown.join(', ')}${more}`)
  }
  return found
}

/**
 * The cases that bear one of the tags; all of them where none is asked for.
 * @throws {CliError} with exit code 2 when there is none
 */
export function taggedCases(cases: readonly Case[], tags: readonly string[]): Case[] {
  if (tags.length === 0) return [...cases]
  const found = cases.filter((each) => each.tags.some((tag) => tags.includes(tag)))
  if (found.length > 0) return found
  const known = [...new Set(cases.flatMap((each) => each.tags))].toSorted()
  throw usageError(
    `--tag: no case bears ${tags.map((tag) => `"${tag}"`).join(' or ')}; ${known.length === 0 ? 'they bear none' : `there are ${known.join(', ')}`}`,
    known[0] === undefined ? 'tags: [smoke] above the steps' : `--tag ${known[0]}`,
  )
}

/** The cases in an order that follows from the seed alone (Fisher and Yates), or as they are where there is none. */
export function shuffledCases(cases: readonly Case[], seed: string | undefined): Case[] {
  const left = [...cases]
  if (seed === undefined) return left
  const random = seededRandom(`order of cases\n${seed}`)
  const shuffled: Case[] = []
  while (left.length > 0) shuffled.push(...left.splice(random.below(left.length), 1))
  return shuffled
}
