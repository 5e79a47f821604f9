import { usageError } from '../errors.ts'
import { findScenarioFiles, readScenarioFile } from './find-files.ts'
import { readScenarios } from './read-scenarios.ts'
import type { Case, Vars } from './read-scenarios.ts'
import type { Mistake } from './source.ts'

export type Loaded = { cases: Case[]; mistakes: Mistake[]; files: number }

/** Reads all cases that the words mean, in order, and all mistakes of all files. */
export function loadScenarios(words: readonly string[], options: { cwd: string; vars: Vars }): Loaded {
  const files = findScenarioFiles(words, options.cwd)
  const read = files.map((file) =>
    readScenarios({ file: file.label, text: readScenarioFile(file), vars: options.vars }),
  )
  return { cases: read.flatMap((one) => one.cases), mistakes: read.flatMap((one) => one.mistakes), files: files.length }
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
