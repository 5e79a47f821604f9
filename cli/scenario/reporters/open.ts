import { resolve } from 'node:path'
import { asTyped } from '../../called-as.ts'
import { usageError } from '../../errors.ts'
import type { Io, Paint } from '../../io.ts'
import type { CaseResult } from '../play.ts'
import { makeJson } from './json.ts'
import { makeJunit } from './junit.ts'
import { makePretty } from './pretty.ts'
import { openReportFile } from './report-file.ts'
import type { ReportFile } from './report-file.ts'
import type { Reporter, Write } from './reporter.ts'
import { makeTap } from './tap.ts'

const MAKERS: Readonly<Record<string, (write: Write, paint: Paint) => Reporter>> = {
  pretty: makePretty,
  tap: makeTap,
  junit: makeJunit,
  json: makeJson,
}

/**
 * Opens the reporters that `--reporter` names: `pretty`, or with a file, `junit=out.xml`. One may write to standard
 * output. Files are opened at once and written when the run is over.
 * @throws {CliError} with exit code 2
 */
export function openReporters(words: readonly string[], { io, paint }: { io: Io; paint: Paint }): Reporter {
  const wishes = words.map((word) => {
    const [name = '', file] = word.split(/=(.*)/s)
    const make = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
    if (make === undefined || file === '')
      throw usageError(
        `--reporter: "${word}" is none of ${Object.keys(MAKERS).join(', ')}, each also with a file: junit=out.xml`,
      )
    return { make, file }
  })
  if (wishes.filter(({ file }) => file === undefined).length > 1) {
    throw usageError(
      '--reporter: only one of them can write to standard output',
      '--reporter pretty --reporter junit=out.xml',
    )
  }
  const seen = new Set<string>()
  const reporters = wishes.map(({ make, file }) => {
    if (file === undefined) return make((text) => io.stdout.write(text), paint)
    const opened = openReportFile(resolve(io.cwd, file))
    if (seen.has(opened.identity)) throw usageError(`--reporter: two of them would write ${opened.path}`)
    seen.add(opened.identity)
    return toFile(make, opened)
  })
  return together(reporters, (result) => asUserTypes(result, io.calledAs))
}

/** Commands in what the user may try next have to be ones that the user's shell finds. */
function asUserTypes(result: CaseResult, called: string): CaseResult {
  const { failure } = result
  if (failure?.hint === undefined) return result
  return { ...result, failure: { ...failure, hint: asTyped(failure.hint, called) } }
}

function toFile(make: (write: Write, paint: Paint) => Reporter, file: ReportFile): Reporter {
  const chunks: string[] = []
  const inner = make(
    (text) => void chunks.push(text),
    (_style, text) => text,
  )
  return {
    ...inner,
    end(summary) {
      inner.end(summary)
      file.finish(chunks.join(''))
    },
  }
}

function together(reporters: readonly Reporter[], prepare: (result: CaseResult) => CaseResult): Reporter {
  return {
    begin: (cases) => reporters.forEach((reporter) => reporter.begin(cases)),
    tellCase(result, number) {
      const prepared = prepare(result)
      reporters.forEach((reporter) => reporter.tellCase(prepared, number))
    },
    end: (summary) => reporters.forEach((reporter) => reporter.end(summary)),
  }
}
