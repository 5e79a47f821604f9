import { refuseDifferences, refuseStatus } from '../assert-matches.ts'
import type { ExpectedStatus } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import type { Path } from '../read/source.ts'

type Expected = Readonly<Record<string, unknown>> & { http?: ExpectedStatus | undefined }

/** Holds an answer against the status that is usual, or said, and against the members that a step expects of it. */
export function refuseUnlike(
  what: string,
  { status, body }: { status: number; body: unknown },
  { usual, expected, at = ['expect'] }: { usual: number; expected: Expected | undefined; at?: Path },
): void {
  const { http = usual, ...members } = expected ?? {}
  refuseStatus(status, http)
  refuseDifferences(what, differencesOf(members, body), at)
}
