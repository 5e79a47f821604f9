import { CliError } from '../errors.ts'
import type { CaseRun } from './case-run.ts'
import { StepFailure } from './failure.ts'
import type { Failure } from './failure.ts'
import type { Case } from './read-scenarios.ts'
import type { Step } from './read-step.ts'
import { excerptOf } from './source.ts'
import type { Place } from './source.ts'
import { paymentNow } from './verbs/await.ts'
import { UNEXPECTED_STATUS } from './verbs/http.ts'

/** Where a case failed; `step` is undefined where that was before the first one. */
export type Failed = { error: unknown; step: Step | undefined }

/** Gathers what helps to understand the failure while the case's things are still there. */
export async function tellFailure(
  run: CaseRun,
  scenario: Case,
  { error, step, rerun }: Failed & { rerun: string },
): Promise<Failure> {
  if (isUnreachable(error)) throw error
  const exchange = run.lastExchange
  const { message, hint, differences, at, isBesideVerb } = wordsOf(error)
  const place: Place = step?.placeOf(isBesideVerb ? at : [step.verb, ...at]) ?? scenario.place
  return {
    message,
    hint,
    step: step?.number ?? 0,
    title: step?.title ?? 'given',
    place,
    excerpt: excerptOf(scenario.source, place),
    differences,
    payments: await paymentsNow(run),
    webhooks: run.receiver?.receipts.slice(),
    exchange,
    rerun,
  }
}

type Words = Pick<StepFailure, 'message' | 'hint' | 'differences' | 'at' | 'isBesideVerb'>

function wordsOf(error: unknown): Words {
  if (error instanceof StepFailure) return error
  const nowhere = { differences: [], at: [], isBesideVerb: false }
  if (!(error instanceof CliError))
    return { ...nowhere, message: error instanceof Error ? error.message : String(error), hint: undefined }
  const { status, fields = [], hint: next } = error.options
  const expected =
    status === undefined
      ? undefined
      : `expect_error: { http: ${status}, code: ${error.code} } beside the verb, if this refusal is the story`
  const hint = [next, expected].filter((part) => part !== undefined).join('; or ')
  if (error.code === UNEXPECTED_STATUS)
    return {
      ...nowhere,
      message: error.message,
      hint: `expect: { http: ${status} } in this step, if that is the story`,
    }
  const refused =
    status === undefined ? error.message : `the service refused it with ${status} ${error.code}: ${error.message}`
  const details = fields.length < 2 ? '' : ` (${fields.map(({ path, message }) => `${path}: ${message}`).join('; ')})`
  return { ...nowhere, message: `${refused}${details}`, hint: hint === '' ? undefined : hint }
}

async function paymentsNow(run: CaseRun): Promise<Failure['payments']> {
  const seen = new Map(run.payments.map((payment) => [payment.created.payment_id, payment]))
  const found = await Promise.all(
    [...seen].map(async ([id, { name }]) => {
      const payment = await paymentNow(run, id).catch(() => undefined)
      return payment === undefined ? [] : [{ name, payment }]
    }),
  )
  return found.flat()
}

/** Whether the service is away, which no scenario is about. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.code === 'SERVICE_UNREACHABLE'
}
