import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { usageError } from '../../errors.ts'
import type { Io, Paint } from '../../io.ts'
import { makeJson } from './json.ts'
import { makeJunit } from './junit.ts'
import { makePretty } from './pretty.ts'
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
 * output. Files are written when the run is over.
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
  return together(
    wishes.map(({ make, file }) =>
      file === undefined ? make((text) => io.stdout.write(text), paint) : toFile(make, resolve(io.cwd, file)),
    ),
  )
}

function toFile(make: (write: Write, paint: Paint) => Reporter, file: string): Reporter {
  const chunks: string[] = []
  const inner = make(
    (text) => void chunks.push(text),
    (_style, text) => text,
  )
  return {
    ...inner,
    end(summary) {
      inner.end(summary)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, chunks.join(''))
    },
  }
}

function together(reporters: readonly Reporter[]): Reporter {
  return {
    begin: (cases) => reporters.forEach((reporter) => reporter.begin(cases)),
    tellCase: (result, number) => reporters.forEach((reporter) => reporter.tellCase(result, number)),
    end: (summary) => reporters.forEach((reporter) => reporter.end(summary)),
  }
}
