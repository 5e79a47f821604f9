import type { CaseResult } from '../play.ts'
import type { Reporter, Write } from './reporter.ts'
import { storyOf } from './story.ts'

/** JUnit's XML as CI systems read it: a suite per file, a case per case. Written when the run is over. */
export function makeJunit(write: Write): Reporter {
  const results: CaseResult[] = []
  return {
    begin: () => undefined,
    tellCase: (result) => void results.push(result),
    end({ failed, durationMs }) {
      const files = [...new Set(results.map(({ scenario }) => scenario.file))]
      const suites = files.map((file) =>
        suiteOf(
          file,
          results.filter(({ scenario }) => scenario.file === file),
        ),
      )
      const root = attributes({
        name: 'svc sandbox run',
        tests: results.length,
        failures: failed,
        errors: 0,
        time: seconds(durationMs),
      })
      write(`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${root}>\n${suites.join('')}</testsuites>\n`)
    },
  }
}

function suiteOf(file: string, results: readonly CaseResult[]): string {
  const time = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  const failures = results.filter(({ failure }) => failure !== undefined).length
  const opening = attributes({
    name: file,
    tests: results.length,
    failures,
    errors: 0,
    skipped: 0,
    time: seconds(time),
  })
  return `  <testsuite ${opening}>\n${results.map(caseOf).join('')}  </testsuite>\n`
}

function caseOf({ scenario, durationMs, steps, failure }: CaseResult): string {
  const opening = attributes({
    name: scenario.name,
    classname: scenario.file,
    file: scenario.file,
    line: scenario.place.line,
    time: seconds(durationMs),
  })
  if (failure === undefined) return `    <testcase ${opening}/>\n`
  const story = storyOf(failure, (_style, text) => text).join('\n')
  const played = steps.map(({ number, title, status }) => `${status.padEnd(7)} ${number} ${title}`).join('\n')
  return [
    `    <testcase ${opening}>`,
    `      <failure ${attributes({ message: failure.message, type: 'ScenarioFailure' })}>${escaped(story)}</failure>`,
    `      <system-out>${escaped(played)}</system-out>`,
    '    </testcase>\n',
  ].join('\n')
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        `${name}="${escaped(String(value)).replace(/[\n\r\t]/g, (space) => `&#${space.charCodeAt(0)};`)}"`,
    )
    .join(' ')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes markup, and replaces what XML 1.0 can't hold at all. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark)
}

function seconds(ms: number): string {
  return String(Math.round(ms) / 1_000)
}
