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

/** A status that nobody expected is a failure, also when it is another success. */
export function refuseStatus(status: number, expected: ExpectedStatus): void {
  const differences = differencesOf(Array.isArray(expected) ? { one_of: expected } : expected, status, 'http')
  if (differences.length === 0) return
  throw new StepFailure(`the service answered ${status}`, {
    differences,
    at: ['expect', 'http'],
  })
}
