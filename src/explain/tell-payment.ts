import { CONSENT_TRANSITIONS } from '../consents/states.ts'
import { next } from '../lib/machine.ts'
import type { Transition } from '../lib/machine.ts'
import { formatNumeric, percentText } from '../lib/money.ts'
import { PAYMENT_TRANSITIONS, isPossibleMove } from '../payments/states.ts'
import type { PaymentTransition, PaymentTrigger } from '../payments/states.ts'
import type { ConsentStatus } from '../wire/payments.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import { failureText } from './payment-standing.ts'
import type { ToldEvent, ToldPayment } from './record.ts'
import { entry } from './timeline.ts'
import { momentText, moneyText } from './words.ts'

type Moved = { payment: ToldPayment; event: ToldEvent }

const TEXTS: Readonly<Record<PaymentTrigger, (moved: Moved) => string>> = {
  creation: ({ payment }) => `created: ${splitText(payment)}`,
  'creation at a remote bank': ({ payment }) => `created: ${splitText(payment)}; the bank has yet to take it`,
  staging: () => 'the bank has taken it: the payer can authorise it now',
  authorisation: ({ event }) => `the payer authorised it at the bank${wayText(event)}`,
  denial: ({ payment, event }) => `${failureText(payment)}${wayText(event)}`,
  cancellation: ({ payment }) =>
    payment.failure_source === 'PAYER' ? 'the payer cancelled it on our page' : 'the merchant cancelled it',
  expiry: () => 'the consent ended before the payer authorised it',
  settlement: ({ payment }) => `the bank executed it: ${moneyText(payment.gross_amount, payment.currency)} taken`,
  'execution refused': ({ payment }) => `the bank refused to execute it: ${failureText(payment)}`,
  refund: () => 'all of it is refunded',
  'creation under a mandate': ({ payment }) =>
    `created under a mandate: ${splitText(payment)}; the bank has yet to take it`,
  'mandate staging': () => 'the bank has taken it',
  'mandate authorisation': () => 'the bank authorised it under the mandate',
  'mandate refusal': ({ payment }) => failureText(payment),
}

const TABLE: readonly PaymentTransition[] = PAYMENT_TRANSITIONS
const CONSENTS: readonly Transition<ConsentStatus>[] = CONSENT_TRANSITIONS

/** What a payment and its consent went through. */
export function tellPayment(payment: ToldPayment, events: readonly ToldEvent[]): TimelineEntry[] {
  let consent: ConsentStatus | null = null
  return events.flatMap((event) => {
    const row = rowOf(payment, event)
    const move = row?.consent == null ? undefined : next(CONSENTS, consent, row.consent)
    consent = move?.to ?? consent
    return [entryOf(payment, event, row), ...(move === undefined ? [] : [consentEntry(event, move, payment)])]
  })
}

/** What will happen of itself. */
export function dueOfPayment({ status, expires_at, settle_at, under_mandate }: ToldPayment): TimelineEntry[] {
  if (!under_mandate && (status === 'AwaitingAuthorisation' || status === 'Initiated'))
    return [entry({ at: expires_at, kind: 'due', text: 'the consent ends; the payment fails if it still waits' })]
  if (status !== 'Authorised' || settle_at === null) return []
  return [entry({ at: settle_at, kind: 'due', text: 'the bank is asked to execute it' })]
}

/** The rows that lead from here to there, told apart by who makes them. */
function rowOf(
  { under_mandate: underMandate }: ToldPayment,
  { previous_status, new_status, changed_by }: ToldEvent,
): PaymentTransition | undefined {
  const rows = TABLE.filter(
    ({ from, to, on }) => from === previous_status && to === new_status && isPossibleMove({ underMandate }, on),
  )
  return rows.find(({ actor }) => actor === changed_by) ?? rows[0]
}

function entryOf(payment: ToldPayment, event: ToldEvent, row: PaymentTransition | undefined): TimelineEntry {
  const text = row === undefined ? 'moved' : TEXTS[row.on]({ payment, event })
  const job = event.job === null ? '' : ` (job ${event.job})`
  return entry({
    at: event.created_at,
    kind: 'payment',
    by: event.changed_by,
    text: `${text}${job}`,
    status: event.new_status,
  })
}

function consentEntry(event: ToldEvent, { from, to }: Transition<ConsentStatus>, payment: ToldPayment): TimelineEntry {
  // Once a mandate is authorised, the moment is the mandate's own end.
  const until = payment.consent_status === 'AWAITING_AUTHORISATION' ? ` until ${momentText(payment.expires_at)}` : ''
  const text = from === null ? `the consent waits for the payer${until}` : `the consent is ${to}`
  return entry({ at: event.created_at, kind: 'consent', by: event.changed_by, text, status: to })
}

/** The payer's browser and the bank's callback bring the same word: whichever is first. */
function wayText({ by_browser }: ToldEvent): string {
  return by_browser ? '; the payer came back with it' : "; the bank's callback told it"
}

function splitText({ gross_amount, fee_amount, net_amount, fee_percentage, fee_flat, currency }: ToldPayment): string {
  const rate = `${percentText(fee_percentage)} and ${formatNumeric(fee_flat, currency)}`
  return `${moneyText(gross_amount, currency)}, of which ${formatNumeric(fee_amount, currency)} is the fee (${rate}) and ${formatNumeric(net_amount, currency)} the merchant's`
}
