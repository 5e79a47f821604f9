import type { Exchange } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import type { CaseRun } from './case-run.ts'
import { StepFailure } from '../failure.ts'
import type { Failure } from '../failure.ts'
import type { Case } from '../read/read-scenarios.ts'
import type { Step } from '../read/read-step.ts'
import { stepHint } from './step-hints.ts'
import { excerptOf } from '../read/source.ts'
import type { Place } from '../read/source.ts'
import { paymentNow } from '../verbs/payments.ts'
import { UNEXPECTED_STATUS } from '../verbs/requests.ts'

/** Where a case failed, after which exchange; `step` is undefined where that was before the first one. */
export type Failed = {
  error: unknown
  step: Step | undefined
  exchange: Exchange | undefined
  /** The steps, as reports tell them, that failed at the same time in other branches. */
  beside?: readonly string[]
}

/** Gathers what helps to understand the failure while the case's things are still there. */
export async function tellFailure(
  run: CaseRun,
  scenario: Case,
  { error, step, exchange, beside = [], rerun }: Failed & { rerun: string },
): Promise<Failure> {
  if (isUnreachable(error) || (step === undefined && isNotAllowed(error))) throw error
  const { message, hint, differences, at, isBesideVerb, came } = wordsOf(error, step, stepHint)
  const place: Place = step?.placeOf(isBesideVerb ? at : [step.verb, ...at]) ?? scenario.place
  const too = beside.length === 0 ? '' : `; beside it, ${beside.join(', ')} failed too`
  return {
    message: `${message}${too}`,
    hint,
    step: step?.number ?? 0,
    label: step?.label ?? '',
    title: step?.title ?? 'given',
    place,
    excerpt: excerptOf(step?.source ?? scenario.source, place),
    differences,
    payments: await paymentsNow(run),
    webhooks: run.receiver?.receipts.slice(),
    came,
    // What came is no answer to it.
    exchange: came === undefined ? exchange : undefined,
    rerun,
  }
}

type Words = Pick<StepFailure, 'message' | 'hint' | 'differences' | 'at' | 'isBesideVerb' | 'came'>

/**
 * What went wrong, and what to do about it; `step` is undefined where no step of a file is to be pointed at, and `hintOf`
 * gives what is told instead of a command's hint.
 */
export function wordsOf(error: unknown, step: Step | undefined, hintOf?: typeof stepHint): Words {
  if (error instanceof StepFailure) return error
  const nowhere = { differences: [], at: [], isBesideVerb: false, came: undefined }
  if (!(error instanceof CliError))
    return { ...nowhere, message: error instanceof Error ? error.message : String(error), hint: undefined }
  const { status, fields = [], hint: command } = error.options
  const next = hintOf === undefined ? command : hintOf(error.code, command)
  const expected =
    status === undefined || step === undefined
      ? undefined
      : `expect_error: { http: ${status}, code: ${error.code} } beside the verb, if this refusal is the story`
  // A hint of several lines is one line here.
  const hint = [next?.replaceAll('\n', '; '), expected].filter((part) => part !== undefined).join('; or ')
  if (error.code === UNEXPECTED_STATUS)
    return {
      ...nowhere,
      message: error.message,
      hint: step === undefined ? undefined : `expect: { http: ${status} } in this step, if that is the story`,
    }
  const refused =
    status === undefined ? error.message : `the service refused it with ${status} ${error.code}: ${error.message}`
  const details = fields.length < 2 ? '' : ` (${fields.map(({ path, message }) => `${path}: ${message}`).join('; ')})`
  return { ...nowhere, message: `${refused}${details}`, hint: hint === '' ? undefined : hint }
}

/** The payments that a case has made, as they are now. */
export async function paymentsNow(run: CaseRun): Promise<Failure['payments']> {
  const seen = new Map(
    run.made.flatMap((each) => (each.kind === 'payment' ? [[each.created.payment_id, each] as const] : [])),
  )
  const found = await Promise.all(
    [...seen].map(async ([id, { name }]) => {
      const payment = await paymentNow(run, id).catch(() => undefined)
      return payment === undefined ? [] : [{ name, payment }]
    }),
  )
  return found.flat()
}

/** Whether nobody is signed in who may make a case's merchant: then no other case can be played either. */
function isNotAllowed(error: unknown): boolean {
  if (!(error instanceof CliError)) return false
  return error.options.exit === EXIT.signedOut || error.options.exit === EXIT.forbidden
}

/** Whether the service is away, which no scenario is about. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.code === 'SERVICE_UNREACHABLE'
}
