import type { Exchange } from '../../client/call.ts'
import { CliError, messageOf } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import type { CaseRun } from './case-run.ts'
import { StepFailure } from '../failure.ts'
import type { Failure } from '../failure.ts'
import type { Case } from '../read/read-case.ts'
import type { Step } from '../read/read-step.ts'
import { excerptOf } from '../read/source.ts'
import type { Place } from '../read/source.ts'
import { paymentNow } from '../verbs/payments.ts'
import { UNEXPECTED_STATUS } from '../verbs/requests.ts'
import type { ErrorCode } from '../../../src/lib/errors.ts'

/** Where a case failed, after which exchange; `step` is undefined where that was before the first one. */
export type Failed = {
  error: unknown
  step: Step | undefined
  exchange: Exchange | undefined
  /** The steps, as reports name them, that failed at the same time in other branches. */
  beside?: readonly string[]
}

export async function describeFailure(
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
 * What went wrong, and what to do about it; `step` is undefined where no step of a file is to be pointed at, and
 * `hintOf` gives what is shown instead of a command's hint.
 */
export function wordsOf(error: unknown, step: Step | undefined, hintOf?: typeof stepHint): Words {
  if (error instanceof StepFailure) return error
  const nowhere = { differences: [], at: [], isBesideVerb: false, came: undefined }
  if (!(error instanceof CliError)) return { ...nowhere, message: messageOf(error), hint: undefined }
  const { status, fields = [], hint: command } = error.options
  const next = hintOf === undefined ? command : hintOf(error.code, command)
  const expected =
    status === undefined || step === undefined
      ? undefined
      : `expect_error: { http: ${status}, code: ${error.code} } beside the verb, if this error is expected`
  // A hint of several lines is one line here.
  const hint = [next?.replaceAll('\n', '; '), expected].filter((part) => part !== undefined).join('; or ')
  if (error.code === UNEXPECTED_STATUS)
    return {
      ...nowhere,
      message: error.message,
      hint: step === undefined ? undefined : `expect: { http: ${status} } in this step, if that is expected`,
    }
  const refused =
    status === undefined ? error.message : `the service rejected it with ${status} ${error.code}: ${error.message}`
  const details = fields.length < 2 ? '' : ` (${fields.map(({ path, message }) => `${path}: ${message}`).join('; ')})`
  return { ...nowhere, message: `${refused}${details}`, hint: hint === '' ? undefined : hint }
}

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

/** Whether the caller may not create a case's merchant: then no other case can be played either. */
function isNotAllowed(error: unknown): boolean {
  if (!(error instanceof CliError)) return false
  return error.options.exit === EXIT.signedOut || error.options.exit === EXIT.forbidden
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.code === 'SERVICE_UNREACHABLE'
}

/** The step that gets past a refusal: a case's merchant and payments are its own, and gone before a command is typed. */
const STEPS: ReadonlyMap<string, string> = new Map<ErrorCode, string>([
  ['MERCHANT_NOT_APPROVED', 'kyb.approve: { reason: checked } before this step'],
  ['MERCHANT_INACTIVE', 'merchants.enable: { reason: back } before this step'],
  ['PAYOUT_HELD', 'hold.release: { reason: cleared } before this step'],
  ['KYB_TRANSITION_INVALID', 'given: { merchant: { kyb: … } } for a merchant that begins elsewhere'],
  ['IDEMPOTENCY_KEY_REUSED', 'another idempotency_key, or pay: { repeat: $p1 } for the same payment again'],
  ['PAYMENT_NOT_SETTLED', 'await: { payment: $p1, status: Settled } before this step'],
  ['PAYMENT_NOT_DISPUTABLE', 'await: { payment: $p1, status: Settled } before this step'],
  ['PAYMENT_NOT_CANCELLABLE', 'payments.cancel: { payment: $p1 } before the payer has decided at the bank'],
  ['PAYMENT_ALREADY_REFUNDED', 'a step without refund: true, for nothing is left of the payment'],
  ['CONSENT_EXPIRED', 'the payer decides before the clock is advanced so far'],
  ['DISPUTE_ALREADY_OPEN', 'disputes.resolve: or disputes.accept: the dispute before another one is raised'],
  [
    'DISPUTE_NOT_UNDER_REVIEW',
    'disputes.evidence: or disputes.escalate: before this step, or clock: { advance: 14d } past the deadline',
  ],
  ['DISPUTE_ESCALATED', 'disputes.resolve: { dispute: $d1, favour: …, note: … }: the platform decides it now'],
  ['DISPUTE_CLOSED', 'this step before the one that has decided the dispute'],
  ['DELIVERY_NOT_DEAD', 'receiver: { answers: [500] } and clock: { advance: 11h } before, so that all attempts fail'],
  ['WEBHOOK_ENDPOINT_NOT_SET', 'a step receiver before this one, or no receiver: false under given'],
  ['WEBHOOK_ENDPOINT_PAUSED', 'webhooks.endpoint.resume: {} before this step'],
  ['SECRET_OVERLAP_RUNNING', 'secret.rotate: { discard_current: true }'],
  ['CHECKOUT_TOKEN_EXPIRED', 'a checkout with a longer expires_in, or of its own'],
  ['CHECKOUT_ALREADY_PAID', 'a checkout with another order'],
  ['CHECKOUT_ATTEMPTS_USED', 'a checkout with another order'],
  ['CHECKOUT_ORIGIN_NOT_ALLOWED', 'a step origins before this one'],
  ['LINK_INVALID', 'payer.link: { as: link, contact: … } for a new link: each is good once, and for a while'],
  ['CONSENT_NOT_REVOCABLE', 'this step before the mandate has ended'],
  ['MANDATE_NOT_USABLE', 'await: { consent: $p1, status: AUTHORISED } before this step'],
  ['MANDATE_LIMIT_EXCEEDED', 'a smaller amount, or clock: { advance: … } into the next period'],
  ['RECURRING_PAYMENT_NOT_CANCELLABLE', 'this step before the last run'],
  ['PAYMENT_REQUEST_CLOSED', 'this step before the one that has ended the request'],
])

/** Commands about the service as a whole, or about who is signed in, which stay true when the case is over. */
const LASTING = /\bsvc (status|login|up|token|sandbox bank faults)\b/

/**
 * What to do about a refusal in a case: a step, where one is known. Of other hints, commands are left out: the merchant
 * they are about is the case's own.
 */
export function stepHint(code: string, hint: string | undefined): string | undefined {
  const step = STEPS.get(code)
  if (step !== undefined) return step
  const lines = (hint ?? '').split('\n').filter((line) => !/\bsvc [a-z]/.test(line) || LASTING.test(line))
  return lines.join('\n') || undefined
}
