import type { Case } from '../read/read-scenarios.ts'
import type { Reporter, Stop, Summary } from './reporter.ts'

type Run = { cases: readonly Case[]; signal: AbortSignal }

/**
 * Plays with the reporter, and ends the report with the reason for what was not played: also where the service went
 * away, or never came.
 */
export async function reported(
  reporter: Reporter,
  { cases, signal }: Run,
  play: (reporter: Reporter) => Promise<Summary>,
): Promise<Summary> {
  let counted: Summary = { passed: 0, failed: 0, notPlayed: cases.length, durationMs: 0 }
  let isBegun = false
  let error: unknown
  const during: Reporter = {
    begin(count) {
      isBegun = true
      reporter.begin(count)
    },
    tellCase: (result, number) => reporter.tellCase(result, number),
    // Only who plays knows why it ended, and tells that afterwards.
    end: (summary) => void (counted = summary),
  }
  try {
    return await play(during)
  } catch (caught) {
    error = caught
    throw caught
  } finally {
    if (!isBegun) reporter.begin(cases.length)
    const unplayed = cases.slice(cases.length - counted.notPlayed)
    reporter.end({ ...counted, unplayed, stopped: stopOf(error, { signal, notPlayed: counted.notPlayed }) })
  }
}

function stopOf(error: unknown, { signal, notPlayed }: { signal: AbortSignal; notPlayed: number }): Stop | undefined {
  if (signal.aborted && (notPlayed > 0 || error !== undefined)) {
    const reason = signal.reason === 'SIGINT' ? 'the run was interrupted' : `the run was ended by ${signal.reason}`
    return { reason, isError: true }
  }
  if (error !== undefined) return { reason: error instanceof Error ? error.message : String(error), isError: true }
  return notPlayed === 0 ? undefined : { reason: 'a case failed, and --bail was given', isError: false }
}
