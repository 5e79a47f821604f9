import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import type { FailureSource } from '../lib/failure-codes.ts'
import { remainingAmount } from '../payments/refunds/refundable-amount.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import type { PaymentFacts } from './payment-steps.ts'
import type { ToldPayment } from './record.ts'
import { countText, isNothing, momentText, moneyText, spanText, untilText } from './words.ts'

type Standing = (facts: PaymentFacts) => string

const STANDING: Readonly<Record<PaymentStatus, Standing>> = {
  Initiated: ({ payment }) =>
    payment.under_mandate
      ? mandateText(payment, 'take it')
      : `waits for the bank ${payment.bank_connector} to take it; the service asks again until it answers. Its consent ends ${untilText(payment.now, payment.expires_at)}`,
  AwaitingAuthorisation: ({ payment }) =>
    payment.under_mandate
      ? mandateText(payment, 'authorise it')
      : `waits for the payer to authorise it at the bank until ${untilText(payment.now, payment.expires_at)}`,
  Authorised: ({ payment }) => `authorised by the payer; ${executionText(payment)}`,
  Settled: (facts) => `settled: the bank has executed it; ${refundedText(facts)}`,
  Failed: ({ payment }) => `failed: ${failureText(payment)}. It took no money, and a new payment can be created`,
  Refunded: ({ payment }) =>
    `refunded: all ${moneyText(payment.gross_amount, payment.currency)} of it went back to the payer`,
}

function mandateText({ bank_connector: bank }: ToldPayment, what: string): string {
  return `waits for the bank ${bank} to ${what} under its mandate, without the payer; the service asks again until it answers`
}

/** Why a payment stands where it stands. */
export function paymentStanding(facts: PaymentFacts): string {
  const open = facts.disputes.find(({ resolved_at }) => resolved_at === null)
  const dispute = open === undefined ? '' : `. It is disputed (${open.reason}): the dispute is ${open.status}`
  return `${STANDING[facts.payment.status](facts)}${dispute}.`
}

/** A failure in its fixed words (decision 51). */
export function failureText({ failure_code: code, failure_source: source }: ToldPayment): string {
  if (code === null || !isFailureCode(code)) return 'without a reason that is known'
  const { reason, source: usual, iso_code } = failureOf(code)
  return `${reason} (${code}, ${iso_code}; the ${SOURCES[isSource(source) ? source : usual]} said so)`
}

const SOURCES: Readonly<Record<FailureSource, string>> = {
  ASPSP_REJECTION: "payer's bank",
  PAYER: 'payer',
  SCHEME: 'payment scheme',
  PLATFORM: 'platform',
  MERCHANT: 'merchant',
}

function isSource(text: string | null): text is FailureSource {
  return text !== null && Object.hasOwn(SOURCES, text)
}

function executionText({ now, settle_at: at }: ToldPayment): string {
  if (at === null) return 'the service has the bank execute it next'
  if (at > now) return `the service has the bank execute it at ${untilText(now, at)}`
  return `it has been due for ${spanText(at, now)}: the service asks the bank until it answers`
}

function refundedText({ payment, refunds }: PaymentFacts): string {
  const { refunded_amount: refunded, refund_reserved_amount: reserved, currency } = payment
  const done = isNothing(refunded)
    ? 'nothing of it is refunded'
    : `${moneyText(refunded, currency)} of ${moneyText(payment.gross_amount, currency)} refunded`
  const pending = refunds.filter(({ status }) => status === 'PENDING')
  const [next] = pending.map(({ resume_at }) => resume_at).toSorted()
  const waits =
    isNothing(reserved) || next === undefined
      ? ''
      : `; the bank has not answered ${countText(pending.length, 'refund')} of ${moneyText(reserved, currency)} yet, and is asked next ${next > payment.now ? `at ${momentText(next)}` : 'now'}`
  return `${done}, ${moneyText(remainingAmount(payment), currency)} can be${waits}`
}
