import { CONSENT_TRANSITIONS } from '../consents/states.ts'
import { DISPUTES_MAX } from '../disputes/raise-dispute.ts'
import { failureOfPayment } from '../lib/failure-codes.ts'
import type { FailureSource } from '../lib/failure-codes.ts'
import { amountWithCurrency, formatNumeric, percentText } from '../lib/money.ts'
import { hasMovedMoney } from '../lib/payment-status.ts'
import { PAYMENT_TRANSITIONS, isPossibleMove } from '../payments/states.ts'
import type { PaymentTransition, PaymentTrigger } from '../payments/states.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import type { PaymentFacts } from './facts-sql.ts'
import { moneyPlaceText } from './payout.ts'
import { phraseOf } from './phrases.ts'
import type { Facts } from './phrases.ts'
import { endpointActions, explained, forMerchant, forOperator } from './steps.ts'
import type { Action, Moves, SubjectKind } from './steps.ts'
import { countText, isZero, momentText, openRefundsText, spanText, untilText } from './text.ts'
import type { TimelineRow } from './timeline-sql.ts'
import { canSeeMoney, canSeeWebhooks } from './viewer.ts'

const CREATOR = 'the merchant, by creating it'
const ASKED_UNTIL_ANSWER = 'the service, by asking the bank until it answers'

const MOVES: Moves<PaymentTrigger, PaymentFacts> = {
  creation: { by: CREATOR },
  'creation at a remote bank': { by: CREATOR },
  staging: { by: ASKED_UNTIL_ANSWER },
  authorisation: { by: "the payer, on the bank's page" },
  denial: { by: 'the payer or the bank' },
  cancellation: {
    by: 'the merchant, or the payer on our page',
    how: ({ id }) => [forMerchant('create payments', `svc payments cancel ${id}`)],
  },
  expiry: {
    by: "the service, at the consent's end",
    at: (it) => it.expires_at,
    due: 'the consent expires; the payment fails if it is still waiting',
  },
  settlement: {
    by: 'the service, when the bank executes it',
    at: (it) => (it.is_unanswered ? null : it.settle_at),
    due: 'the bank is asked to execute it',
  },
  'execution rejected': {
    by: 'the bank, when the service asks it to execute; an operator, where the bank gives no final answer',
    at: (it) => (it.is_unanswered ? null : it.settle_at),
    how: ({ id, is_unanswered: isUnanswered }) => (isUnanswered ? [forOperator(`svc payments resolve ${id}`)] : []),
  },
  refund: {
    by: 'the merchant, when all of it is refunded; an operator, by resolving a dispute',
    at: (it) => (isRestReserved(it) ? it.newest_refund_at : null),
    how: (it) =>
      isRestReserved(it) || it.lacks_refund_account
        ? []
        : [forMerchant('refund payments', `svc payments refund ${it.id}`)],
  },
  'creation under a mandate': { by: CREATOR },
  'mandate staging': { by: ASKED_UNTIL_ANSWER },
  'mandate authorisation': { by: 'the bank, under the mandate that the payer authorised before' },
  'mandate rejection': {
    by: 'the bank, or the service once the mandate has ended or the bank has not answered for too long',
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
  Failed: (it) =>
    `failed: ${failureText(it)}. ${it.is_unanswered ? 'Its bank settled it afterwards: an operator says whose the money is' : 'No money was taken; a new payment can be created'}`,
  Refunded: (it) => `refunded in full: ${amountWithCurrency(it.gross_amount, it.currency)} went back to the payer`,
}

const TABLE: readonly PaymentTransition[] = PAYMENT_TRANSITIONS

/** The rows that a payment of this kind can take: under a mandate, or authorised by its payer. */
function paymentTable({ under_mandate: underMandate }: PaymentFacts): readonly PaymentTransition[] {
  return TABLE.filter(({ on }) => isPossibleMove({ underMandate }, on))
}

export const PAYMENT: SubjectKind<PaymentTrigger, PaymentFacts> = {
  title: ({ gross_amount, currency }) => `payment of ${amountWithCurrency(gross_amount, currency)}`,
  standing: (payment, viewer) => {
    const { open_dispute: open } = payment
    const dispute = open === null ? '' : `. It is disputed (${open.reason}): the dispute is ${open.status}`
    return `${STANDING[payment.status](payment)}${moneyPlaceText(payment.money, viewer)}${dispute}`
  },
  table: paymentTable,
  entriesOf,
  moves: MOVES,
  also: (payment, viewer) => {
    const isHeld = payment.has_held_webhooks && canSeeWebhooks(viewer)
    return [
      ...lateActions(payment),
      ...disputeActions(payment),
      ...(canSeeMoney(viewer) ? explained('its settlement', payment.money?.settlement_id ?? null) : []),
      ...(isHeld ? endpointActions(payment.endpoint) : []),
    ]
  },
}

/** A payment's move, and that of its consent with it. */
function entriesOf({ kind, at, from, to, by, ref, facts }: TimelineRow, payment: PaymentFacts): TimelineEntry[] {
  const moves = paymentTable(payment).filter((row) => row.from === from && row.to === to)
  const move = moves.find(({ actor }) => actor === by) ?? moves[0]
  const job = facts['job'] === null ? '' : ` (job ${facts['job']})`
  const text = `${phraseOf(kind, move?.on ?? 'moved', facts, paymentSlots(payment))}${job}`
  const moved: TimelineEntry = { at, kind, by, text, status: to, ref }
  const consent = CONSENT_TRANSITIONS.find(({ on }) => on === move?.consent)
  if (consent === undefined) return [moved]
  // Once a mandate is authorised, the moment is the mandate's own end.
  const until = payment.consent_status === 'AWAITING_AUTHORISATION' ? ` until ${momentText(payment.expires_at)}` : ''
  const phrase = consent.from === null ? `the consent waits for the payer${until}` : `the consent is ${consent.to}`
  return [moved, { at, kind: 'consent', by, text: phrase, status: consent.to, ref }]
}

/** The slots of the phrases of its moves (phrases.ts). */
function paymentSlots(payment: PaymentFacts): Facts {
  return {
    split: splitText(payment),
    gross: amountWithCurrency(payment.gross_amount, payment.currency),
    failure: failureText(payment),
    canceller: payment.failure_source === 'PAYER' ? 'the payer cancelled it on our page' : 'the merchant cancelled it',
  }
}

function lateActions({ id, status, is_unanswered: isLate }: PaymentFacts): Action[] {
  if (status !== 'Failed' || !isLate) return []
  const by = "an operator; an OWNER, where it is the merchant's"
  return [{ what: 'say whose its money is', by, how: [forOperator(`svc payments resolve ${id}`)] }]
}

function disputeActions({ id, open_dispute: open, ...it }: PaymentFacts): Action[] {
  if (open !== null) return explained('its dispute', open.id, 'read payments')
  const wasPaid = hasMovedMoney(it)
  if (!wasPaid || it.disputable_until <= it.now) return []
  const { payer, merchant, platform } = it.dispute_counts
  const command = (as = ''): string => `svc disputes raise${as} ${id} --reason OTHER --statement "..."`
  const sides = [
    { count: payer, by: 'the payer', how: [] },
    { count: merchant, by: 'the merchant', how: [forMerchant('refund payments', command())] },
    { count: platform, by: 'an operator', how: [forOperator(command(' --as-operator'))] },
  ].filter(({ count }) => count < DISPUTES_MAX)
  if (sides.length === 0) return []
  return [
    {
      what: `dispute it, until ${untilText(it.now, it.disputable_until)}`,
      by: sides
        .map(({ by }) => by)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1'),
      how: sides.flatMap(({ how }) => how),
    },
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
function failureText(payment: PaymentFacts): string {
  const failure = failureOfPayment(payment)
  if (failure === null) return 'no reason is recorded'
  const { code, reason, source, iso_code } = failure
  return `${reason} (${code}, ${iso_code}; reported by the ${FAILURE_SOURCES[source]})`
}

function splitText({ currency, ...it }: PaymentFacts): string {
  const rate = `${percentText(it.fee_percentage)} and ${formatNumeric(it.fee_flat, currency)}`
  return `${amountWithCurrency(it.gross_amount, currency)}, of which ${formatNumeric(it.fee_amount, currency)} is the fee (${rate}) and ${formatNumeric(it.net_amount, currency)} the merchant's`
}

function mandateText({ bank_connector: bank }: PaymentFacts, what: string): string {
  return `waits for the bank ${bank} to ${what} under its mandate, without the payer; the service asks again until it answers`
}

function executionText({ now, settle_at: at, is_unanswered: isUnanswered }: PaymentFacts): string {
  if (isUnanswered)
    return 'its bank never answered, or has left it open for days: an operator asks the bank, then resolves it'
  if (at === null) return 'the service has the bank execute it next'
  if (at > now) return `the service has the bank execute it at ${untilText(now, at)}`
  return `it has been due for ${spanText(at, now)}: the service keeps asking the bank until it answers`
}

function refundedText(it: PaymentFacts): string {
  const { currency } = it
  const done = isZero(it.refunded_amount)
    ? 'nothing refunded'
    : `${amountWithCurrency(it.refunded_amount, currency)} of ${amountWithCurrency(it.gross_amount, currency)} refunded`
  const open = `${countText(it.pending_refund_count, 'refund')} of ${amountWithCurrency(it.refund_reserved_amount, currency)}`
  const waits =
    isZero(it.refund_reserved_amount) || it.pending_refund_count === 0
      ? ''
      : `; ${openRefundsText(open, { now: it.now, next: it.next_refund_at })}`
  const rest = amountWithCurrency(it.remaining_amount, currency)
  if (it.lacks_refund_account && !isZero(it.remaining_amount))
    return `${done}; the ${rest} left can't be refunded through the bank, as no bank has confirmed the payer's account: refund by other means, and accept or resolve a dispute without a refund${waits}`
  return `${done}, ${rest} refundable${waits}`
}

/** Whether refunds that the bank has not answered yet hold all that is left. */
function isRestReserved(payment: PaymentFacts): boolean {
  return !isZero(payment.refund_reserved_amount) && isZero(payment.remaining_amount)
}
