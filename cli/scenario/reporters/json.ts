import type { CaseResult } from '../play/play.ts'
import { failureFacts } from './failure-facts.ts'
import type { ReportOptions, Reporter, Write } from './reporter.ts'

/** One JSON object for programs, written when the run is over. */
export function makeJson(write: Write, { seed }: ReportOptions = {}): Reporter {
  const results: CaseResult[] = []
  return {
    begin: () => undefined,
    reportCase: (result) => void results.push(result),
    end({ passed, failed, skipped, notPlayed, durationMs, stopped }) {
      const summary = {
        passed,
        failed,
        skipped,
        not_played: notPlayed,
        stopped: stopped?.reason ?? null,
        seed: seed ?? null,
      }
      write(`${JSON.stringify({ ...summary, duration_ms: Math.round(durationMs), cases: results.map(caseOf) })}\n`)
    },
  }
}

function caseOf({ scenario, durationMs, steps, failure, made, skipped }: CaseResult): unknown {
  return {
    file: scenario.file,
    number: scenario.number,
    name: scenario.name,
    passed: failure === undefined && skipped === undefined,
    skipped: skipped ?? null,
    duration_ms: Math.round(durationMs),
    merchant_id: made.merchantId === '' ? null : made.merchantId,
    payments: made.payments.map(({ name, paymentId }) => ({ name, payment_id: paymentId })),
    events: made.events.map(({ eventId, eventType }) => ({ event_id: eventId, event_type: eventType })),
    steps: steps.map((step) => ({
      number: step.number,
      label: step.label,
      title: step.title,
      status: step.status,
      duration_ms: Math.round(step.durationMs),
    })),
    failure:
      failure === undefined
        ? null
        : {
            message: failure.message,
            hint: failure.hint ?? null,
            step: failure.step,
            label: failure.label,
            file: failure.place.file,
            line: failure.place.line,
            column: failure.place.column,
            ...failureFacts(failure),
          },
  }
}
