import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { messageOf } from '../../base/errors.ts'
import type { Explained } from './explain.ts'
import { labelOf } from './find-files.ts'
import { PartFrame } from './file-schema.ts'
import { openDocument, BYTES_MAX, documentsOf } from './document.ts'
import type { NoteIn, Opened } from './document.ts'
import { parse } from './read-step.ts'
import { makeSource } from './source.ts'
import type { Mistake, Path } from './source.ts'
import { varsOf } from './variables.ts'
import type { Vars } from './variables.ts'

/** What the files that scenarios use have in common while one file of scenarios is read. */
export type UsedFiles = {
  /** Where paths begin that stand in no file. */
  cwd: string
  /** Each file that was asked for, by its path. */
  found: Map<string, Opened | undefined>
  /** What is wrong with their YAML. */
  mistakes: Mistake[]
}

type Asking = {
  files: UsedFiles
  noteIn: NoteIn
  /** The files that led here, each used by the one before it. */
  chain: readonly string[]
  /** Where the file is asked for. */
  asks: { path: Path; note: (found: Explained) => void }
}

const DEPTH_MAX = 20

/** The document of a file whose steps another file uses; undefined where something is wrong, which is noted. */
export function openUsed(
  file: string,
  { files, noteIn, chain, asks }: Asking,
): { opened: Opened; vars: Vars; chain: readonly string[] } | undefined {
  const from = chain.at(-1)
  const path = resolve(from === undefined ? files.cwd : dirname(from), file)
  const refuse = (message: string, hint?: string): void => asks.note({ path: asks.path, what: 'key', message, hint })
  if (chain.includes(path)) {
    const round = [...chain.slice(chain.indexOf(path)), path].map((each) => labelOf(each, files.cwd))
    refuse(`this has no end: ${round.join(' uses ')}`)
    return undefined
  }
  if (chain.length >= DEPTH_MAX) {
    refuse(`files use one another more than ${DEPTH_MAX} deep here`)
    return undefined
  }
  if (!files.found.has(path)) files.found.set(path, openFile(path, { files, refuse }))
  const opened = files.found.get(path)
  if (opened === undefined) {
    // What is wrong with the file was reported before; here only that it can't be used.
    refuse(`${file} can't be used`)
    return undefined
  }
  // What another file makes of it, such as its merchant, would be lost: the frame of a part has no place for that.
  const isPart = parse(PartFrame, opened.raw, { path: [], note: (found) => noteIn(opened, found) }) !== undefined
  if (!isPart) return undefined
  return { opened, vars: varsOf(opened.raw), chain: [...chain, path] }
}

/** Mistakes are reported with their lines, and a report is no place for those of any file on this machine. */
const SAYS_SCENARIO = /\bscenario["']?[ \t]*:/

type Opening = { files: UsedFiles; refuse: (message: string, hint?: string) => void }

function openFile(path: string, { files, refuse }: Opening): Opened | undefined {
  const label = labelOf(path, files.cwd)
  const text = textOf(path, (why) => refuse(`can't read ${label}: ${why}`, 'a path that begins where this file is'))
  if (text === undefined) return undefined
  if (!SAYS_SCENARIO.test(text)) {
    refuse(`${label} is not a scenario file: write "scenario: part" in it`)
    return undefined
  }
  const source = makeSource(label, text)
  const documents = documentsOf(parseAllDocuments(text, { lineCounter: source.counter, prettyErrors: false }))
  const [document] = documents
  if (document === undefined || documents.length > 1) {
    refuse(`${label} has ${documents.length} documents; steps are used of a file that has one`)
    return undefined
  }
  const opened = openDocument(document, source)
  files.mistakes.push(...opened.mistakes)
  return opened.raw === undefined ? undefined : opened
}

function textOf(path: string, refuse: (why: string) => void): string | undefined {
  try {
    const problem = problemOf(path)
    if (problem === undefined) return readFileSync(path, 'utf8')
    refuse(problem)
  } catch (error) {
    const why = messageOf(error)
    refuse(why.startsWith('ENOENT') ? 'there is no such file' : why)
  }
  return undefined
}

/** Looked at before it is read: a device or a pipe may have no end. */
function problemOf(path: string): string | undefined {
  const stats = statSync(path)
  if (!stats.isFile()) return 'it is not a regular file'
  return stats.size > BYTES_MAX ? 'it is larger than 1 MiB' : undefined
}
