import { parseAllDocuments } from 'yaml'
import { CliError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import type { CaseRun } from './case-run.ts'
import { StepFailure } from './failure.ts'
import type { Failure } from './failure.ts'
import type { Case } from './read-scenarios.ts'
import type { Step } from './read-step.ts'
import { excerptOf, locate, makeSource } from './source.ts'
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
  if (isUnreachable(error) || (step === undefined && isNotAllowed(error))) throw error
  const exchange = run.lastExchange
  const { message, hint, differences, at, isBesideVerb } = wordsOf(error, step)
  const place: Place = step?.placeOf(isBesideVerb ? at : [step.verb, ...at]) ?? placeOfGiven(scenario, error)
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

/** Before the first step the merchant is made: a refusal is about what was given for it, and about its field if it names one. */
function placeOfGiven({ source, place }: Case, error: unknown): Place {
  if (!(error instanceof CliError) || error.options.status === undefined) return place
  const text = source.lines.join('\n')
  const again = makeSource(source.file, text)
  const documents = parseAllDocuments(text, { lineCounter: again.counter, prettyErrors: false })
  const document = documents.find((each) => locate(again, each, ['name'], 'value').line === place.line)
  const field = error.options.fields?.[0]?.path.split('.').at(-1)
  const path = ['given', 'merchant', ...(field === undefined ? [] : [FIELD_OF_GIVEN[field] ?? field])]
  const found = document === undefined ? undefined : locate(again, document, path, 'key')
  // Where nothing is given, the way leads no further than to the document's own beginning.
  return document === undefined || found === undefined || !document.has('given') ? place : found
}

/** The fields of a new merchant that have another name in a scenario. */
const FIELD_OF_GIVEN: Readonly<Record<string, string>> = { kyb_status: 'kyb' }

function wordsOf(error: unknown, step: Step | undefined): Words {
  if (error instanceof StepFailure) return error
  const nowhere = { differences: [], at: [], isBesideVerb: false }
  if (!(error instanceof CliError))
    return { ...nowhere, message: error instanceof Error ? error.message : String(error), hint: undefined }
  const { status, fields = [], hint: next } = error.options
  const expected =
    status === undefined || step === undefined
      ? undefined
      : `expect_error: { http: ${status}, code: ${error.code} } beside the verb, if this refusal is the story`
  const hint = [next, expected].filter((part) => part !== undefined).join('; or ')
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

/** Whether nobody is signed in who may make a case's merchant: then no other case can be played either. */
function isNotAllowed(error: unknown): boolean {
  if (!(error instanceof CliError)) return false
  return error.options.exit === EXIT.signedOut || error.options.exit === EXIT.forbidden
}

/** Whether the service is away, which no scenario is about. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.code === 'SERVICE_UNREACHABLE'
}
