import { DISPUTES_MAX } from '../disputes/raise-dispute.ts'
import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import type { FailureSource } from '../lib/failure-codes.ts'
import { formatNumeric, percentText } from '../lib/money.ts'
import { PAYMENT_TRANSITIONS, isPossibleMove } from '../payments/states.ts'
import type { PaymentTransition, PaymentTrigger } from '../payments/states.ts'
import type { OtherStep } from '../wire/explain.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import type { PaymentFacts, PaymentMoveRow } from './record.ts'
import { canSeeWebhooks, endpointSteps, forMerchant, forOperator, otherStep } from './steps.ts'
import type { Move, SubjectKind, Viewer } from './steps.ts'
import { countText, isZero, momentText, moneyText, spanText, untilText } from './text.ts'

/** A move as the timeline shows it once it has happened, and as a next step while it can. */
type PaymentMove = Move<PaymentFacts> & { phrase: (payment: PaymentFacts, row: PaymentMoveRow) => string }

const CREATOR = 'the merchant, by creating it'
const ASKED_UNTIL_ANSWER = 'the service, by asking the bank until it answers'

export const PAYMENT_MOVES: Readonly<Record<PaymentTrigger, PaymentMove>> = {
  creation: { by: CREATOR, phrase: (it) => `created: ${splitText(it)}` },
  'creation at a remote bank': {
    by: CREATOR,
    phrase: (it) => `created: ${splitText(it)}; the bank has not accepted it yet`,
  },
  staging: { by: ASKED_UNTIL_ANSWER, phrase: () => 'the bank accepted it: the payer can authorise it now' },
  authorisation: {
    by: "the payer, on the bank's page",
    phrase: (_, row) => `the payer authorised it at the bank${wayText(row)}`,
  },
  denial: { by: 'the payer or the bank', phrase: (it, row) => `${failureText(it)}${wayText(row)}` },
  cancellation: {
    by: 'the merchant, or the payer on our page',
    how: ({ id }) => [forMerchant('create payments', `svc payments cancel ${id}`)],
    phrase: (it) =>
      it.failure_source === 'PAYER' ? 'the payer cancelled it on our page' : 'the merchant cancelled it',
  },
  expiry: {
    by: "the service, at the consent's end",
    at: (it) => it.expires_at,
    phrase: () => 'the consent ended before the payer authorised it',
  },
  settlement: {
    by: 'the service, when the bank executes it',
    at: (it) => it.settle_at,
    phrase: (it) => `the bank executed it: ${moneyText(it.gross_amount, it.currency)} taken`,
  },
  'execution refused': {
    by: 'the bank, when the service asks it to execute',
    at: (it) => it.settle_at,
    phrase: (it) => `the bank refused to execute it: ${failureText(it)}`,
  },
  refund: {
    by: 'the merchant, when all of it is refunded; an operator, by resolving a dispute',
    at: (it) => (isRestReserved(it) ? it.newest_refund_at : null),
    how: (it) => (isRestReserved(it) ? [] : [forMerchant('refund payments', `svc payments refund ${it.id}`)]),
    phrase: () => 'refunded in full',
  },
  'creation under a mandate': {
    by: CREATOR,
    phrase: (it) => `created under a mandate: ${splitText(it)}; the bank has not accepted it yet`,
  },
  'mandate staging': { by: ASKED_UNTIL_ANSWER, phrase: () => 'the bank accepted it' },
  'mandate authorisation': {
    by: 'the bank, under the mandate that the payer authorised before',
    phrase: () => 'the bank authorised it under the mandate',
  },
  'mandate refusal': {
    by: 'the bank, or the service once the mandate has ended or the bank has not answered for too long',
    phrase: failureText,
  },
}

const STANDING: Readonly<Record<PaymentStatus, (payment: PaymentFacts) => string>> = {
  Initiated: (it) =>
    it.under_mandate
      ? mandateText(it, 'accept it')
      : `waits for the bank ${it.bank_connector} to accept it; the service asks again until it answers. Its consent expires at ${untilText(it.now, it.expires_at)}`,
  AwaitingAuthorisation: (it) =>
    it.under_mandate
      ? mandateText(it, 'authorise it')
      : `waits for the payer to authorise it at the bank until ${untilText(it.now, it.expires_at)}`,
  Authorised: (it) => `authorised by the payer; ${executionText(it)}`,
  Settled: (it) => `settled: the bank has executed it; ${refundedText(it)}`,
  Failed: (it) => `failed: ${failureText(it)}. No money was taken; a new payment can be created`,
  Refunded: (it) => `refunded in full: ${moneyText(it.gross_amount, it.currency)} went back to the payer`,
}

const TABLE: readonly PaymentTransition[] = PAYMENT_TRANSITIONS

/** The rows that a payment of this kind can take: under a mandate, or authorised by its payer. */
export function paymentTable({ under_mandate: underMandate }: PaymentFacts): readonly PaymentTransition[] {
  return TABLE.filter(({ on }) => isPossibleMove({ underMandate }, on))
}

export const PAYMENT: SubjectKind<PaymentTrigger, PaymentFacts> = {
  title: ({ gross_amount, currency }) => `payment of ${moneyText(gross_amount, currency)}`,
  standing: (payment) => {
    const { open_dispute_status: status, open_dispute_reason: reason } = payment
    const dispute = status === null ? '' : `. It is disputed (${reason}): the dispute is ${status}`
    return `${STANDING[payment.status](payment)}${dispute}`
  },
  table: paymentTable,
  moves: PAYMENT_MOVES,
  also: (payment, viewer) => {
    const isHeld = payment.has_held_webhooks && canSeeWebhooks(viewer)
    return [...disputeSteps(payment, viewer), ...(isHeld ? endpointSteps(payment.endpoint, viewer) : [])]
  },
}

function disputeSteps({ id, ...it }: PaymentFacts, viewer: Viewer): OtherStep[] {
  if (it.open_dispute_id !== null)
    return [{ what: 'explain its dispute', by: 'anyone with access to it', how: `svc explain ${it.open_dispute_id}` }]
  const wasPaid = it.status === 'Settled' || it.status === 'Refunded'
  if (!wasPaid || it.disputable_until <= it.now || it.dispute_count >= DISPUTES_MAX) return []
  const what = `dispute it, until ${untilText(it.now, it.disputable_until)}`
  return [
    otherStep(viewer, what, 'the payer, the merchant or an operator', [
      forMerchant('refund payments', `svc payments dispute ${id} --reason OTHER --statement "..."`),
      forOperator(`svc disputes raise ${id} --reason OTHER --statement "..."`),
    ]),
  ]
}

const FAILURE_SOURCES: Readonly<Record<FailureSource, string>> = {
  ASPSP_REJECTION: "payer's bank",
  PAYER: 'payer',
  SCHEME: 'payment scheme',
  PLATFORM: 'platform',
  MERCHANT: 'merchant',
}

/** A failure in its fixed words (decision 51). */
function failureText({ failure_code: code, failure_source: source }: PaymentFacts): string {
  if (code === null || !isFailureCode(code)) return 'no reason is recorded'
  const { reason, source: usual, iso_code } = failureOf(code)
  return `${reason} (${code}, ${iso_code}; reported by the ${FAILURE_SOURCES[isFailureSource(source) ? source : usual]})`
}

function isFailureSource(text: string | null): text is FailureSource {
  return text !== null && Object.hasOwn(FAILURE_SOURCES, text)
}

/** The payer's browser and the bank's callback bring the same result: the first one counts. */
function wayText({ facts }: PaymentMoveRow): string {
  return facts.by_browser ? ", as the payer's browser reported" : ", as the bank's callback reported"
}

function splitText({ currency, ...it }: PaymentFacts): string {
  const rate = `${percentText(it.fee_percentage)} and ${formatNumeric(it.fee_flat, currency)}`
  return `${moneyText(it.gross_amount, currency)}, of which ${formatNumeric(it.fee_amount, currency)} is the fee (${rate}) and ${formatNumeric(it.net_amount, currency)} the merchant's`
}

function mandateText({ bank_connector: bank }: PaymentFacts, what: string): string {
  return `waits for the bank ${bank} to ${what} under its mandate, without the payer; the service asks again until it answers`
}

function executionText({ now, settle_at: at }: PaymentFacts): string {
  if (at === null) return 'the service has the bank execute it next'
  if (at > now) return `the service has the bank execute it at ${untilText(now, at)}`
  return `it has been due for ${spanText(at, now)}: the service keeps asking the bank until it answers`
}

function refundedText({ currency, next_refund_at: next, ...it }: PaymentFacts): string {
  const done = isZero(it.refunded_amount)
    ? 'nothing refunded'
    : `${moneyText(it.refunded_amount, currency)} of ${moneyText(it.gross_amount, currency)} refunded`
  const waits =
    isZero(it.refund_reserved_amount) || next === null
      ? ''
      : `; the bank has not answered ${countText(it.pending_refund_count, 'refund')} of ${moneyText(it.refund_reserved_amount, currency)} yet, and is asked next ${next > it.now ? `at ${momentText(next)}` : 'now'}`
  return `${done}, ${moneyText(it.remaining_amount, currency)} refundable${waits}`
}

/** Whether refunds that the bank has not answered yet hold all that is left. */
function isRestReserved(payment: PaymentFacts): boolean {
  return !isZero(payment.refund_reserved_amount) && isZero(payment.remaining_amount)
}
