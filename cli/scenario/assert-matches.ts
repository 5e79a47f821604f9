import type { Operation } from '../../src/wire/operation.ts'
import { StepFailure } from './failure.ts'
import type { Came } from './failure.ts'
import type { ExpectedStatus } from './language/parts.ts'
import { differencesOf } from './matchers.ts'
import type { Difference } from './matchers.ts'
import type { Path } from './read/source.ts'

const NAMED_MAX = 4

/** Fails with all differences at once, pointing at the first of them. `at` is where in the step the expectations stand. */
export function refuseDifferences(what: string, differences: readonly Difference[], at: Path = [], came?: Came): void {
  const [first] = differences
  if (first === undefined) return
  const fields = first.path.split(/[.[\]]+/).filter((part) => part !== '')
  const names = differences.slice(0, NAMED_MAX).map(({ path }) => path)
  const more = differences.length > NAMED_MAX ? ` and ${differences.length - NAMED_MAX} more` : ''
  throw new StepFailure(`${what} is not as expected: ${names.join(', ')}${more}`.replace(/: $/, ''), {
    differences,
    at: [...at, ...fields],
    came,
  })
}

/** An unexpected status is a failure, also when it is another success. */
export function refuseStatus(status: number, expected: ExpectedStatus): void {
  const differences = differencesOf(Array.isArray(expected) ? { one_of: expected } : expected, status, 'http')
  if (differences.length === 0) return
  throw new StepFailure(`the service answered ${status}`, {
    differences,
    at: ['expect', 'http'],
  })
}

export type Expected = Readonly<Record<string, unknown>> & { http?: ExpectedStatus | undefined }

/** Holds an answer against the status that is usual, or said, and against the members that a step expects of it. */
export function refuseUnlike(
  what: string,
  { status, body }: { status: number; body: unknown },
  { usual, expected = {}, at = ['expect'] }: { usual: number; expected?: Expected | undefined; at?: Path },
): void {
  const { http = usual, ...members } = expected
  refuseStatus(status, http)
  refuseDifferences(what, differencesOf(members, body ?? {}), at)
}

/** Of several, the first: the others say that something is still to come, which a step has to expect. */
export function usualStatus({ replies }: Operation): number {
  return Number.parseInt(Object.keys(replies)[0] ?? '', 10)
}
