import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { usageError } from '../../base/errors.ts'
import { findScenarioFiles, readScenarioFile } from './find-files.ts'
import { varsOfFiles } from './given-vars.ts'
import type { Case } from './read-case.ts'
import { CASES_MAX, readScenarios } from './read-scenarios.ts'
import { told } from './source.ts'
import type { Mistake } from './source.ts'
import type { Vars } from './variables.ts'

export type Loaded = {
  cases: Case[]
  mistakes: Mistake[]
  files: number
  /** What choices in the files followed from. */
  seed: string
}

export type LoadOptions = {
  cwd: string
  vars: Vars
  /** What choices in the files follow from; without one each load chooses anew. */
  seed?: string | undefined
  /** The paths that this run writes its reports to. */
  reports?: ReadonlySet<string> | undefined
}

/**
 * Reads all cases that the words mean, in order, and all mistakes of all files.
 * @throws {CliError} with exit code 2 for a word that means no file, for variables that no file takes, and where nothing
 * but parts of scenarios is meant
 */
export function loadScenarios(words: readonly string[], options: LoadOptions): Loaded {
  const { cwd, seed = randomUUID() } = options
  const files = findScenarioFiles(words, options).map((file) => ({ ...file, text: readScenarioFile(file) }))
  const vars = varsOfFiles(files, options.vars)
  let casesMax = CASES_MAX
  const read = files.map(({ label, path, text }, index) => {
    const one = readScenarios({ file: label, text, path, cwd, seed, casesMax, vars: vars[index] ?? options.vars })
    casesMax -= one.cases.length
    return one
  })
  const cases = read.flatMap((one) => one.cases)
  const mistakes = told(read.flatMap((one) => one.mistakes))
  if (cases.length === 0 && mistakes.length === 0)
    throw usageError(
      'there is no case here: all of it is "scenario: part", which other files use for its steps',
      `use: ./${basename(files[0]?.path ?? 'common.yaml')} in a scenario`,
    )
  return { cases, mistakes, files: files.length, seed }
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
