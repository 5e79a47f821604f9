import { inspect } from 'node:util'
import { CliError } from '../../base/errors.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { maskedDifference } from '../masked.ts'
import { factLines } from '../reporters/failure-lines.ts'
import { stepHint, paymentsNow, wordsOf } from '../play/describe-failure.ts'

/**
 * A verb did not go as the test says. The message is one line, as test runners take it for a name. `report` and the stack
 * have all of it: the differences, what happened until then, and the last request.
 */
export class ScenarioError extends Error {
  /** Of the error response, where the API rejected; undefined where an expectation does not hold. */
  declare readonly code?: string
  /** The HTTP status of it. */
  declare readonly http?: number
  declare readonly report: string

  constructor(message: string, options: ScenarioErrorOptions = {}) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ScenarioError'
    // What there is not should not be shown as undefined.
    if (options.code !== undefined) this.code = options.code
    if (options.http !== undefined) this.http = options.http
    this.report = [message, ...(options.lines ?? [])].join('\n')
  }

  /** The stack has the report already. */
  [inspect.custom](): string {
    return this.stack ?? this.report
  }
}

type ScenarioErrorOptions = {
  code?: string | undefined
  http?: number | undefined
  /** What the report has beyond the message. */
  lines?: readonly string[]
  cause?: unknown
}

/** Where a program has called a verb: what is behind the first await of it stands in no stack. */
export type Called = { name: string; frames: string }

export function calledHere(name: string): Called {
  const frames = (new Error(name).stack ?? '').split('\n').slice(1)
  return { name, frames: frames.filter((frame) => !frame.includes(import.meta.dirname)).join('\n') }
}

/** The failure of a verb with all that helps to understand it, while what the scenario made is still there. */
export async function scenarioError(run: CaseRun, error: unknown, called: Called): Promise<unknown> {
  if (!(error instanceof StepFailure || error instanceof CliError)) return error
  const exchange = run.lastExchange
  const { message, hint, differences, came } = wordsOf(error, undefined, stepHint)
  const status = error instanceof CliError ? error.options.status : undefined
  const code = error instanceof CliError ? error.code : undefined
  const expecting =
    status === undefined
      ? undefined
      : `shop.expectError(() => …, { http: ${status}, code: '${code ?? ''}' }), if that error is expected`
  const payments = await paymentsNow(run)
  const lines = factLines(
    {
      differences,
      hint: [hint, expecting].filter((each) => each !== undefined).join('; or ') || undefined,
      payments,
      webhooks: run.receiver?.receipts,
      came,
      exchange: came === undefined ? exchange : undefined,
    },
    (_style, text) => text,
  )
  const options = { code, http: status, lines, cause: error }
  return at(new ScenarioError(`${called.name}: ${message}${inShort(differences)}`, options), called)
}

const SHORT_MAX = 60

/** What differs, where that is little enough for one line. */
function inShort(differences: StepFailure['differences']): string {
  const [first] = differences
  if (first === undefined || differences.length > 1) return ''
  const { expected, actual } = maskedDifference(first)
  const isShort = Math.max(expected.length, actual.length) <= SHORT_MAX
  return isShort ? ` (expected ${expected}, but is ${actual})` : ''
}

/** The same error, where the program has called the verb. */
export function at(error: ScenarioError, { frames }: Called): ScenarioError {
  error.stack = `${error.name}: ${error.report}\n${frames}`
  return error
}
