import type { Payment, PayerView } from '../../src/wire/payments.ts'
import type { Exchange } from '../client/call.ts'
import type { Difference } from './matchers.ts'
import type { Receipt } from './play/receiver.ts'
import type { Path, Place } from './read/source.ts'

type StepFailureOptions = {
  differences?: readonly Difference[]
  at?: Path
  hint?: string | undefined
  isBesideVerb?: boolean
  /** What came in place of what was expected, where that is no answer of the service. */
  came?: Came | undefined
  cause?: unknown
}

/** Something that arrived, as reports show it: masked. */
export type Came = { what: string; value: unknown }

export class StepFailure extends Error {
  readonly differences: readonly Difference[]
  /** What below the verb is to be pointed at. */
  readonly at: Path
  readonly hint: string | undefined
  /** Whether `at` begins beside the verb, as expect_error does, and not below it. */
  readonly isBesideVerb: boolean
  readonly came: Came | undefined

  constructor(message: string, options: StepFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StepFailure'
    this.differences = options.differences ?? []
    this.at = options.at ?? []
    this.hint = options.hint
    this.isBesideVerb = options.isBesideVerb ?? false
    this.came = options.came
  }
}

export type Failure = {
  message: string
  hint: string | undefined
  /** From 1; 0 is what was given before the steps. */
  step: number
  /** The step as reports name it: 3, or 3.1.2 for one inside of another. */
  label: string
  title: string
  place: Place
  excerpt: readonly string[]
  differences: readonly Difference[]
  payments: readonly { name: string; payment: Payment | PayerView }[]
  webhooks: readonly Receipt[] | undefined
  /** What the failure is about, where that is no answer of the service; there is then no exchange to show. */
  came: Came | undefined
  exchange: Exchange | undefined
  /** The command that plays this case alone. */
  rerun: string
}
