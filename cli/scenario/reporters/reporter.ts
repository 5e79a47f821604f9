import type { CaseResult } from '../play/play.ts'
import type { Case } from '../read/read-case.ts'

/** Why cases were not played. An error is what nobody asked for, unlike --bail. */
export type Stop = { reason: string; isError: boolean }

/** What a run came to. */
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

/** Tells a run in one form. Cases are told in their order, each when it is over. */
export type Reporter = {
  begin(cases: number): void
  tellCase(result: CaseResult, number: number): void
  end(summary: Summary): void
}

/** Where a reporter writes; nothing it writes is coloured unless `paint` does. */
export type Write = (text: string) => void

export type ReportOptions = {
  /** Whether ids are told of what was made, for whoever looks at it afterwards. */
  keep?: boolean
  /** What ids, order or choices of the run follow from; undefined where nothing does. */
  seed?: string | undefined
}
