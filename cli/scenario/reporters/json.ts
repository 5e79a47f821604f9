import type { CaseResult } from '../play.ts'
import { curlOf, maskedDifference, replyOf } from '../masked.ts'
import type { Reporter, Write } from './reporter.ts'

/** One JSON object for programs, written when the run is over. */
export function makeJson(write: Write): Reporter {
  const results: CaseResult[] = []
  return {
    begin: () => undefined,
    tellCase: (result) => void results.push(result),
    end({ passed, failed, notPlayed, durationMs, stopped }) {
      const summary = { passed, failed, not_played: notPlayed, stopped: stopped?.reason ?? null }
      write(`${JSON.stringify({ ...summary, duration_ms: Math.round(durationMs), cases: results.map(caseOf) })}\n`)
    },
  }
}

function caseOf({ scenario, durationMs, steps, failure }: CaseResult): unknown {
  return {
    file: scenario.file,
    number: scenario.number,
    name: scenario.name,
    passed: failure === undefined,
    duration_ms: Math.round(durationMs),
    steps: steps.map((step) => ({
      number: step.number,
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
            file: failure.place.file,
            line: failure.place.line,
            column: failure.place.column,
            differences: failure.differences.map(maskedDifference),
            payments: failure.payments.map(({ name, payment }) => ({
              name,
              payment_id: payment.payment_id,
              status: payment.status,
              history: payment.status_history,
            })),
            webhooks: (failure.webhooks ?? []).map(({ eventId, eventType, status, signature }) => ({
              event_id: eventId,
              event_type: eventType,
              answered: status,
              signature,
            })),
            request: failure.exchange === undefined ? null : curlOf(failure.exchange),
            answer: failure.exchange === undefined ? null : replyOf(failure.exchange),
            again: failure.rerun,
          },
  }
}
