import type { Payment, PayerView } from '../../src/wire/payments.ts'
import type { Exchange } from '../client.ts'
import type { Difference } from './matchers.ts'
import type { Receipt } from './receiver.ts'
import type { Path, Place } from './source.ts'

type StepFailureOptions = {
  differences?: readonly Difference[]
  at?: Path
  hint?: string | undefined
  isBesideVerb?: boolean
  cause?: unknown
}

/** A step did not go as the scenario says. */
export class StepFailure extends Error {
  readonly differences: readonly Difference[]
  /** What below the verb is to be pointed at. */
  readonly at: Path
  readonly hint: string | undefined
  /** Whether `at` begins beside the verb, as expect_error does, and not below it. */
  readonly isBesideVerb: boolean

  constructor(message: string, options: StepFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StepFailure'
    this.differences = options.differences ?? []
    this.at = options.at ?? []
    this.hint = options.hint
    this.isBesideVerb = options.isBesideVerb ?? false
  }
}

const NAMED_MAX = 4

/** Fails with all differences at once, pointing at the first of them. `at` is where in the step the expectations stand. */
export function refuseDifferences(what: string, differences: readonly Difference[], at: Path = []): void {
  const [first] = differences
  if (first === undefined) return
  const fields = first.path.split(/[.[\]]+/).filter((part) => part !== '')
  const names = differences.slice(0, NAMED_MAX).map(({ path }) => path)
  const more = differences.length > NAMED_MAX ? ` and ${differences.length - NAMED_MAX} more` : ''
  throw new StepFailure(`${what} is not as expected: ${names.join(', ')}${more}`.replace(/: $/, ''), {
    differences,
    at: [...at, ...fields],
  })
}

/** All that helps to understand a failed case. */
export type Failure = {
  message: string
  hint: string | undefined
  /** From 1; 0 is what was given before the steps. */
  step: number
  title: string
  place: Place
  excerpt: readonly string[]
  differences: readonly Difference[]
  payments: readonly { name: string; payment: Payment | PayerView }[]
  webhooks: readonly Receipt[] | undefined
  exchange: Exchange | undefined
  /** The command that plays this case alone. */
  rerun: string
}

/** A status that nobody expected is a failure, also when it is another success. */
export function refuseStatus(status: number, expected: number): void {
  if (status === expected) return
  throw new StepFailure(`the service answered ${status}`, {
    differences: [{ path: 'http', expected: String(expected), actual: String(status) }],
    at: ['expect', 'http'],
  })
}
