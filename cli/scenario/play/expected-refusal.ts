import { CliError } from '../../base/errors.ts'
import { fillIn } from './case-run.ts'
import type { CaseRun } from './case-run.ts'
import { StepFailure } from '../failure.ts'
import { ExpectError } from '../language.ts'
import { finds, regexOf } from '../matchers.ts'

/**
 * Holds how a step ended against the refusal that was expected of it. A refusal is what the API says; a failed
 * expectation is none.
 * @throws {StepFailure} when it is another, or none
 */
export function refuseOtherError(run: CaseRun, wanted: ExpectError, error: unknown): void {
  if (error !== undefined && !(error instanceof CliError && error.options.status !== undefined)) throw error
  const expected = expectedOf(run, wanted)
  if (error === undefined)
    throw new StepFailure(
      `this step was expected to be rejected (${Object.values(expected).join(' ')}), but it succeeded`,
      { at: ['expect_error'], isBesideVerb: true, hint: HINTS[expected.code ?? ''] },
    )
  const { code, message, options } = error
  const differences = [
    ...(expected.http === undefined || expected.http === options.status
      ? []
      : [{ path: 'http', expected: String(expected.http), actual: String(options.status) }]),
    ...(expected.code === undefined || expected.code === code
      ? []
      : [{ path: 'code', expected: expected.code, actual: code }]),
    ...(expected.match === undefined || matchesText(expected.match, message)
      ? []
      : [{ path: 'match', expected: expected.match, actual: message }]),
  ]
  if (differences.length > 0)
    throw new StepFailure(
      `the service rejected this step, but not as expected: ${options.status} ${code}: ${message}`,
      {
        differences,
        at: ['expect_error', differences[0]?.path ?? ''],
        isBesideVerb: true,
        cause: error,
      },
    )
}

const HINTS: Readonly<Record<string, string>> = {
  MANDATE_LIMIT_EXCEEDED: 'a service holds mandates to their caps with SVC_VRP_CAPS=enforce; one of --ephemeral does',
}

function expectedOf(run: CaseRun, wanted: ExpectError): ExpectError {
  const at = { at: ['expect_error'], isBesideVerb: true }
  const parsed = ExpectError.safeParse(fillIn(run, wanted, at))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new StepFailure(
    `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is wrong'}, once it is filled in`.trim(),
    at,
  )
}

function matchesText(pattern: string, text: string): boolean {
  const regex = regexOf(pattern)
  return regex === undefined ? text.includes(pattern) : finds(regex, text)
}
