import { messageOf } from '../../base/errors.ts'
import type { CaseResult } from '../play/play.ts'
import type { Case } from '../read/read-case.ts'
import type { Reporter, Stop, Summary } from './reporter.ts'

type Run = { cases: readonly Case[]; signal: AbortSignal }

/**
 * Plays with the reporter, and ends the report with the reason for what was not played: also where the service went
 * away, or never came.
 */
export async function reported(
  reporter: Reporter,
  { cases, signal }: Run,
  play: (report: (result: CaseResult) => void) => Promise<void>,
): Promise<Summary> {
  const begunAt = performance.now()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const played = (): number => counts.passed + counts.failed + counts.skipped
  let error: unknown
  const summaryNow = (): Summary => {
    const unplayed = cases.slice(played())
    const stopped = stopOf(error, { signal, notPlayed: unplayed.length })
    return { ...counts, notPlayed: unplayed.length, durationMs: performance.now() - begunAt, unplayed, stopped }
  }
  reporter.begin(cases.length)
  try {
    await play((result) => {
      counts[result.skipped === undefined ? (result.failure === undefined ? 'passed' : 'failed') : 'skipped'] += 1
      reporter.reportCase(result, played())
    })
    return summaryNow()
  } catch (caught) {
    error = caught
    throw caught
  } finally {
    reporter.end(summaryNow())
  }
}

function stopOf(error: unknown, { signal, notPlayed }: { signal: AbortSignal; notPlayed: number }): Stop | undefined {
  if (signal.aborted && (notPlayed > 0 || error !== undefined)) {
    const reason = signal.reason === 'SIGINT' ? 'the run was interrupted' : `the run was ended by ${signal.reason}`
    return { reason, isError: true }
  }
  if (error !== undefined) return { reason: messageOf(error), isError: true }
  return notPlayed === 0 ? undefined : { reason: 'a case failed, and --bail was given', isError: false }
}
