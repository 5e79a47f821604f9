import type { Paint } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import type { MadeIds } from '../play/play.ts'
import type { ReportOptions, Reporter, Summary, Write } from './reporter.ts'
import { failureLines } from './failure-lines.ts'

export function makePretty(write: Write, paint: Paint, { keep, seed }: ReportOptions = {}): Reporter {
  return {
    begin: () => undefined,
    reportCase({ scenario, failure, durationMs, made, skipped }) {
      if (skipped !== undefined)
        return write(`${paint('yellow', '-')} ${printable(scenario.name)} ${paint('dim', `(skipped: ${skipped})`)}\n`)
      const mark = failure === undefined ? paint('green', '✓') : paint('red', '✗')
      write(`${mark} ${printable(scenario.name)} ${paint('dim', `(${durationText(durationMs)})`)}\n`)
      if (keep === true)
        write(
          madeLines(made)
            .map((line) => `    ${paint('dim', line)}\n`)
            .join(''),
        )
      if (failure !== undefined)
        write(
          `\n${failureLines(failure, paint)
            .map((line) => (line === '' ? '' : `    ${line}`))
            .join('\n')}\n\n`,
        )
    },
    end: (summary) => write(`\n${summaryText(summary, paint)}${seed === undefined ? '' : `, seed ${seed}`}\n`),
  }
}

function madeLines({ merchantId, payments }: MadeIds): string[] {
  return [
    ...(merchantId === '' ? [] : [`merchant ${merchantId}`]),
    ...payments.map(({ name, paymentId }) => `payment  ${paymentId}${name === '' ? '' : ` ($${name})`}`),
  ]
}

function summaryText({ passed, failed, skipped, notPlayed, durationMs }: Summary, paint: Paint): string {
  const counts = [
    ...(failed > 0 ? [paint('red', `${failed} failed`)] : []),
    paint('green', `${passed} passed`),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(notPlayed > 0 ? [`${notPlayed} not played`] : []),
  ]
  const played = passed + failed
  const rate = played === 0 ? '' : ` (${tenths(played / (durationMs / 1_000))} cases a second)`
  return `${counts.join(', ')} in ${durationText(durationMs)}${rate}`
}

function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${tenths(ms / 1_000)} s`
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
