import { readFileSync, readdirSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, extname, join, relative, resolve } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { CliError, messageOf } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { nearestWord } from '../../base/nearest-word.ts'

export type ScenarioFile = {
  /** As messages name it: relative to the current directory where it lies below it, or a built-in's name. */
  label: string
  path: string
}

export type BuiltIn = ScenarioFile & {
  name: string
  title: string
  tags: readonly string[]
}

const EXTENSIONS = new Set(['.yaml', '.yml'])

const FILES_MAX = 1_000

/**
 * The files that the words mean: files, folders (all YAML files below them, in the order of their names) and names
 * of built-ins. What this run writes its reports to is no scenario of it.
 * @throws {CliError} with exit code 2 for a word that is none of them
 */
export function findScenarioFiles(
  words: readonly string[],
  { cwd, reports = new Set() }: { cwd: string; reports?: ReadonlySet<string> | undefined },
): ScenarioFile[] {
  const files = words.flatMap((word) => filesOf(word, { cwd, reports }))
  if (files.length > FILES_MAX) throw fileError(`these are more than ${FILES_MAX} files`)
  return files.filter(({ path }, index) => files.findIndex((other) => other.path === path) === index)
}

function filesOf(word: string, { cwd, reports }: { cwd: string; reports: ReadonlySet<string> }): ScenarioFile[] {
  const path = resolve(cwd, word)
  if (reports.has(path)) throw fileError(`--reporter would write over ${word}, which is to be played`)
  const stats = statOf(path)
  if (stats === undefined) return [builtIn(word)]
  if (!stats.isDirectory()) return [{ label: labelOf(path, cwd), path }]
  const found = namesBelow(path)
    .filter((name) => EXTENSIONS.has(extname(name)) && !name.split(/[\\/]/).includes('node_modules'))
    .toSorted()
    .map((name) => join(path, name))
    // A link to nothing is no file.
    .filter((file) => !reports.has(file) && statOf(file)?.isFile() === true)
  if (found.length === 0) throw fileError(`there is no scenario file (*.yaml, *.yml) in ${word}`)
  return found.map((file) => ({ label: labelOf(file, cwd), path: file }))
}

function statOf(path: string): Stats | undefined {
  return orUsage(path, () => statSync(path, { throwIfNoEntry: false }))
}

function namesBelow(folder: string): string[] {
  return orUsage(folder, () => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
}

/** What the file system refuses is about the words of the command line: exit code 2. */
function orUsage<T>(path: string, look: () => T): T {
  try {
    return look()
  } catch (cause) {
    throw fileError(`can't read ${path}: ${messageOf(cause)}`)
  }
}

export function labelOf(path: string, cwd: string): string {
  const below = relative(cwd, path)
  return below.startsWith('..') ? path : below
}

/** @param kind the folder of examples: scenarios, or what `svc trigger` plays */
export function listBuiltIns(kind: 'scenarios' | 'triggers' = 'scenarios'): BuiltIn[] {
  const folder = join(packageRoot(), 'examples', kind)
  return readdirSync(folder)
    .filter((file) => extname(file) === '.yaml')
    .toSorted()
    .map((file) => {
      const path = join(folder, file)
      const name = basename(file, '.yaml')
      return { name, label: name, path, ...aboutOf(readFileSync(path, 'utf8')) }
    })
}

/** The first comment of a built-in is its summary; each of its documents has its tags in one line. */
function aboutOf(text: string): Pick<BuiltIn, 'title' | 'tags'> {
  const lists = Array.from(text.matchAll(/^tags: *\[(.*)\]/gm), ([, list = '']) =>
    list.split(',').map((tag) => tag.trim()),
  )
  return { title: /^#\s*(.+)$/m.exec(text)?.[1] ?? '', tags: [...new Set(lists.flat())] }
}

/** @throws {CliError} with exit code 6 when there is none of this name */
export function shownBuiltIn(name: string): BuiltIn {
  const { found, meant } = builtInOf(name)
  if (found !== undefined) return found
  throw new CliError('NO_SCENARIO', `built-in scenario not found: ${name}`, {
    exit: EXIT.notFound,
    hint: meant === undefined ? 'svc sandbox scenarios list' : `svc sandbox scenarios show ${meant}`,
  })
}

/** @throws {CliError} with exit code 2 when there is none of this name */
function builtIn(name: string): BuiltIn {
  const { found, meant } = builtInOf(name)
  if (found !== undefined) return found
  const hint = meant === undefined ? 'svc sandbox scenarios list' : `svc run ${meant}`
  throw fileError(`scenario not found: ${name}: use a file, a folder or the name of a built-in scenario`, hint)
}

function builtInOf(name: string): { found: BuiltIn | undefined; meant: string | undefined } {
  const known = listBuiltIns()
  const names = known.map((one) => one.name)
  return { found: known.find((one) => one.name === name), meant: nearestWord(name, names) }
}

export function readScenarioFile({ label, path }: ScenarioFile): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fileError(`can't read ${label}: ${messageOf(cause)}`)
  }
}

function fileError(message: string, hint?: string): CliError {
  return new CliError('NO_SCENARIO', message, { hint })
}
