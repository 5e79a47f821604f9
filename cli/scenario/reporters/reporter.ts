import type { CaseResult } from '../play.ts'

/** What a run came to. */
export type Summary = { passed: number; failed: number; notPlayed: number; durationMs: number }

/** Tells a run in one form. Cases are told in their order, each when it is over. */
export type Reporter = {
  begin(cases: number): void
  tellCase(result: CaseResult, number: number): void
  end(summary: Summary): void
}

/** Where a reporter writes; nothing it writes is coloured unless `paint` does. */
export type Write = (text: string) => void
