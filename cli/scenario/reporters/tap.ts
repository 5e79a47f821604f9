import { stringify } from 'yaml'
import { printable } from '../../base/text.ts'
import type { Failure } from '../failure.ts'
import type { CaseResult } from '../play/play.ts'
import type { StepResult } from '../play/play-plan.ts'
import { failureFacts } from './failure-facts.ts'
import type { ReportOptions, Reporter, Write } from './reporter.ts'

/** TAP version 14: a subtest per case, a test point per step, and YAML diagnostics below what failed. */
export function makeTap(write: Write, { seed }: ReportOptions = {}): Reporter {
  return {
    begin: (cases) => write(`TAP version 14\n1..${cases}\n`),
    reportCase: (result, number) => write(`${caseLines(result, number).join('\n')}\n`),
    end({ passed, failed, notPlayed, durationMs, stopped }) {
      if (notPlayed > 0) write(`Bail out! ${oneLine(stopped?.reason ?? 'not every case was played')}\n`)
      write(
        `# ${passed} passed, ${failed} failed, ${Math.round(durationMs)} ms\n${seed === undefined ? '' : `# seed ${seed}\n`}`,
      )
    },
  }
}

function caseLines({ scenario, steps, failure, durationMs, skipped }: CaseResult, number: number): string[] {
  if (skipped !== undefined) return [`ok ${number} - ${escaped(scenario.name)} # SKIP ${oneLine(skipped)}`]
  const points = steps.flatMap((step) => pointLines(step, failure?.step === step.number ? failure : undefined))
  const name = escaped(scenario.name)
  return [
    `# Subtest: ${name}`,
    ...indented([`1..${steps.length}`, ...points]),
    `${failure === undefined ? 'ok' : 'not ok'} ${number} - ${name} # time=${Math.round(durationMs)}ms`,
    ...(failure?.step === 0 ? diagnostics(failure) : []),
  ]
}

function pointLines(step: StepResult, failure: Failure | undefined): string[] {
  const { number, status, durationMs } = step
  const title = titleOf(step)
  if (status === 'skipped') return [`ok ${number} - ${escaped(title)} # SKIP not reached`]
  const line = `${status === 'passed' ? 'ok' : 'not ok'} ${number} - ${escaped(title)} # time=${Math.round(durationMs)}ms`
  return [line, ...(failure === undefined ? [] : diagnostics(failure))]
}

function diagnostics(failure: Failure): string[] {
  const { message, place, hint } = failure
  const { differences, payments, webhooks, came, request, answer, again } = failureFacts(failure)
  const shown = {
    message,
    at: { fileName: place.file, lineNumber: place.line, columnNumber: place.column },
    ...(differences.length === 0 ? {} : { differences }),
    ...(hint === undefined ? {} : { hint }),
    payments: payments.map((each) => ({ ...each, history: each.history.map((change) => change.new_status) })),
    webhooks,
    ...(came === null ? {} : { came: came.value }),
    ...(request === null ? {} : { request, answer }),
    again,
  }
  const lines = stringify(shown, { lineWidth: 0 }).trimEnd().split('\n')
  return indented(['---', ...lines.map((line) => printable(line)), '...'], '  ')
}

/** Points count from 1 in their subtest; a step inside of another keeps its own number before its title. */
function titleOf({ number, label, title }: StepResult): string {
  return label === String(number) ? title : `${label} ${title}`
}

/** A # would begin a directive, and a backslash an escape. */
function escaped(text: string): string {
  return oneLine(text).replace(/[\\#]/g, String.raw`\$&`)
}

function oneLine(text: string): string {
  return printable(text.replace(/[\r\n]+/g, ' '))
}

function indented(lines: readonly string[], by = '    '): string[] {
  return lines.map((line) => `${by}${line}`)
}
