import type { CaseResult } from '../play/play.ts'
import type { Case } from '../read/read-case.ts'

/** Why cases were not played. An error was not asked for, unlike --bail. */
export type Stop = { reason: string; isError: boolean }

export type Summary = {
  passed: number
  failed: number
  /** Those that need what the service has not. */
  skipped: number
  notPlayed: number
  durationMs: number
  /** The cases that were not played, and why. */
  unplayed: readonly Case[]
  stopped: Stop | undefined
}

/** Reports a run in one form: cases in their order, each when it is over. */
export type Reporter = {
  begin(cases: number): void
  reportCase(result: CaseResult, number: number): void
  end(summary: Summary): void
}

/** Where a reporter writes; nothing it writes is coloured unless `paint` does. */
export type Write = (text: string) => void

export type ReportOptions = {
  /** Whether the ids of what was made are printed, to look at it afterwards. */
  keep?: boolean
  /** What ids, order or choices of the run follow from; undefined where nothing does. */
  seed?: string | undefined
}
