import { closeSync, existsSync, fstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { asTyped } from '../../base/command-hints.ts'
import type { ServiceFlags } from '../../base/command-hints.ts'
import { usageError, messageOf } from '../../base/errors.ts'
import type { Io, Paint } from '../../base/io.ts'
import type { CaseResult } from '../play/play.ts'
import { makeJson } from './json.ts'
import { makeJunit } from './junit.ts'
import { makePretty } from './pretty.ts'
import type { ReportOptions, Reporter, Write } from './reporter.ts'
import { makeTap } from './tap.ts'

type Maker = (write: Write, paint: Paint, options: ReportOptions) => Reporter

const MAKERS: Readonly<Record<string, Maker>> = {
  pretty: makePretty,
  tap: (write, _paint, options) => makeTap(write, options),
  junit: (write, _paint, options) => makeJunit(write, options),
  json: (write, _paint, options) => makeJson(write, options),
}

/**
 * Opens the reporters that `--reporter` names: `pretty`, or with a file, `junit=out.xml`. One may write to standard
 * output. Files are opened at once and written when the run is over.
 * @throws {CliError} with exit code 2
 */
export function openReporters(
  words: readonly string[],
  { io, paint, given, ...options }: ReportOptions & { io: Io; paint: Paint; given?: ServiceFlags },
): Reporter {
  const requested = words.map((word) => {
    const [name = '', file] = partsOf(word)
    const make = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
    if (make === undefined || file === '')
      throw usageError(
        `--reporter: "${word}" is none of ${Object.keys(MAKERS).join(', ')}, each also with a file: junit=out.xml`,
      )
    return { make, file }
  })
  if (requested.filter(({ file }) => file === undefined).length > 1) {
    throw usageError(
      '--reporter: only one of them can write to standard output',
      '--reporter pretty --reporter junit=out.xml',
    )
  }
  const seen = new Set<string>()
  const reporters = requested.map(({ make, file }) => {
    if (file === undefined) return make((text) => io.stdout.write(text), paint, options)
    const opened = openReportFile(resolve(io.cwd, file))
    if (seen.has(opened.identity)) throw usageError(`--reporter: two of them would write ${opened.path}`)
    seen.add(opened.identity)
    return toFile(make, opened, options)
  })
  return together(reporters, (result) => asUserTypes(result, (text) => asTyped(text, io.calledAs, given)))
}

function partsOf(word: string): string[] {
  return word.split(/=(.*)/s)
}

export function reportFilesOf(words: readonly string[], cwd: string): ReadonlySet<string> {
  return new Set(words.flatMap((word) => partsOf(word).slice(1, 2)).map((file) => resolve(cwd, file)))
}

/** Commands in what the user may try next have to be ones that the user's shell finds, and that reach the same service. */
function asUserTypes(result: CaseResult, typed: (text: string) => string): CaseResult {
  const { failure } = result
  if (failure === undefined) return result
  const hint = failure.hint === undefined ? undefined : typed(failure.hint)
  return { ...result, failure: { ...failure, hint, rerun: typed(failure.rerun) } }
}

type ReportFile = { path: string; descriptor: number; identity: string }

/**
 * Opens a report's file, and makes its folder, so that a path that can't be written is reported before anything is
 * played. Its identity is the same whatever name led to it.
 * @throws {CliError} with exit code 2, naming the path
 */
function openReportFile(path: string): ReportFile {
  try {
    makeFolder(dirname(path))
    const descriptor = openSync(path, 'w')
    const { dev, ino } = fstatSync(descriptor)
    return { path, descriptor, identity: `${dev}:${ino}` }
  } catch (error) {
    throw usageError(`--reporter: can't write ${path}: ${messageOf(error)}`)
  }
}

/** One by one: mkdir's own `recursive` tries for ever where a file system answers ENOENT to every attempt, as /proc does. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another run may have made it in the meantime.
    if (!existsSync(folder)) throw error
  }
}

function toFile(make: Maker, { descriptor }: ReportFile, options: ReportOptions): Reporter {
  const chunks: string[] = []
  const inner = make(
    (text) => void chunks.push(text),
    (_style, text) => text,
    options,
  )
  return {
    ...inner,
    end(summary) {
      inner.end(summary)
      writeFileSync(descriptor, chunks.join(''))
      closeSync(descriptor)
    },
  }
}

function together(reporters: readonly Reporter[], prepare: (result: CaseResult) => CaseResult): Reporter {
  return {
    begin: (cases) => reporters.forEach((reporter) => reporter.begin(cases)),
    reportCase(result, number) {
      const prepared = prepare(result)
      reporters.forEach((reporter) => reporter.reportCase(prepared, number))
    },
    end: (summary) => reporters.forEach((reporter) => reporter.end(summary)),
  }
}
