import type { CaseResult } from '../play/play.ts'
import type { Case } from '../read/read-case.ts'
import type { ReportOptions, Reporter, Stop, Write } from './reporter.ts'
import { failureLines } from './failure-lines.ts'

const RUN = 'svc run'

/**
 * JUnit's XML as CI systems read it: a suite per file, a case per case, written when the run is over. Cases that were
 * not played are skipped ones; where that was an error, a suite of the run itself reports it, so that nothing stays
 * green.
 */
export function makeJunit(write: Write, { seed }: ReportOptions = {}): Reporter {
  const results: CaseResult[] = []
  return {
    begin: () => undefined,
    reportCase: (result) => void results.push(result),
    end({ failed, skipped, durationMs, unplayed, stopped }) {
      const files = [...new Set([...results.map(({ scenario }) => scenario), ...unplayed].map(({ file }) => file))]
      const suites = files.map((file) =>
        suiteOf(file, {
          results: results.filter(({ scenario }) => scenario.file === file),
          unplayed: unplayed.filter((scenario) => scenario.file === file),
          stopped,
          seed,
        }),
      )
      const errors = stopped?.isError === true ? 1 : 0
      if (stopped?.isError === true) suites.push(suiteOfRun(stopped))
      const root = attributes({
        name: RUN,
        tests: results.length + unplayed.length + errors,
        failures: failed,
        errors,
        skipped: unplayed.length + skipped,
        time: seconds(durationMs),
      })
      write(`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${root}>\n${suites.join('')}</testsuites>\n`)
    },
  }
}

type Played = {
  results: readonly CaseResult[]
  unplayed: readonly Case[]
  stopped: Stop | undefined
  seed: string | undefined
}

function suiteOf(file: string, { results, unplayed, stopped, seed }: Played): string {
  const time = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  const failures = results.filter(({ failure }) => failure !== undefined).length
  const opening = attributes({
    name: file,
    tests: results.length + unplayed.length,
    failures,
    errors: 0,
    skipped: unplayed.length + results.filter(({ skipped }) => skipped !== undefined).length,
    time: seconds(time),
  })
  const cases = [...results.map(caseOf), ...unplayed.map((scenario) => skippedOf(scenario, stopped))]
  // Readers of JUnit's XML know properties of a suite, and few know those of the whole.
  const property = seed === undefined ? '' : `<property ${attributes({ name: 'seed', value: seed })}/>`
  const properties = property === '' ? '' : `    <properties>${property}</properties>\n`
  return `  <testsuite ${opening}>\n${properties}${cases.join('')}  </testsuite>\n`
}

/** The one error of a run that was cut short, beside its cases. */
function suiteOfRun({ reason }: Stop): string {
  const counts = { tests: 1, failures: 0, errors: 1, skipped: 0, time: '0' }
  return [
    `  <testsuite ${attributes({ name: RUN, ...counts })}>`,
    `    <testcase ${attributes({ name: 'every case is played', classname: RUN, time: '0' })}>`,
    `      <error ${attributes({ message: reason, type: 'ScenarioRunError' })}>${escaped(reason)}</error>`,
    '    </testcase>',
    '  </testsuite>\n',
  ].join('\n')
}

function skippedOf(scenario: Case, stopped: Stop | undefined): string {
  const message = `not played: ${stopped?.reason ?? 'the run ended before it'}`
  return `    <testcase ${openingOf(scenario, 0)}><skipped ${attributes({ message })}/></testcase>\n`
}

function openingOf(scenario: Case, durationMs: number): string {
  return attributes({
    name: scenario.name,
    classname: scenario.file,
    file: scenario.file,
    line: scenario.place.line,
    time: seconds(durationMs),
  })
}

function caseOf({ scenario, durationMs, steps, failure, skipped }: CaseResult): string {
  if (skipped !== undefined)
    return `    <testcase ${openingOf(scenario, 0)}><skipped ${attributes({ message: skipped })}/></testcase>\n`
  const opening = openingOf(scenario, durationMs)
  if (failure === undefined) return `    <testcase ${opening}/>\n`
  const lines = failureLines(failure, (_style, text) => text).join('\n')
  const played = steps.map(({ label, title, status }) => `${status.padEnd(7)} ${label} ${title}`).join('\n')
  return [
    `    <testcase ${opening}>`,
    `      <failure ${attributes({ message: failure.message, type: 'ScenarioFailure' })}>${escaped(lines)}</failure>`,
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
