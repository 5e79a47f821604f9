import type { Failure } from '../../lib/failure-codes.ts'
import { MEANINGS, failureTextName } from '../../lib/failure-meaning.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { failureOfPayment } from '../../lib/failure-codes.ts'
import type { PayerLanguage } from './payer-language.ts'

/** Interval of looks while a payment is in progress, and how long a page looks automatically (decision 63). */
const POLL_SECONDS = 2
const LOOKING_MS = 120_000

/** The outcome of a payment, for a page. */
export type Outcome = {
  isEnded: boolean
  failure: Failure | null
  /** Whether it failed and certainly took no money from the payer. */
  nothingTaken: boolean
  /** Whether the page looks again automatically. */
  polling: { pollSeconds: number } | Record<string, never>
}

export function outcomeOf(payment: PaymentWithHistory): Outcome {
  const isEnded = payment.status === 'Settled' || payment.status === 'Refunded' || payment.status === 'Failed'
  const isLooking = !isEnded && Date.now() - Date.parse(payment.updated_at) < LOOKING_MS
  const failure = failureOfPayment(payment)
  const nothingTaken = failure !== null && MEANINGS[failure.code].nothingTaken
  return { isEnded, failure, nothingTaken, polling: isLooking ? { pollSeconds: POLL_SECONDS } : {} }
}

/** Why the payment failed; undefined if it did not. */
export function failureText({ failure, nothingTaken }: Outcome, { checkout }: PayerLanguage): Html | undefined {
  if (failure === null) return undefined
  const texts: Readonly<Record<string, string>> = checkout.failures
  const reason = texts[failureTextName(failure.code, failure.source)] ?? checkout.failures.UNKNOWN
  return html`<p>${reason}${nothingTaken ? ` ${checkout.nothingTaken}` : ''}</p>`
}

/** A link to check again, for a payment in progress when the page no longer looks automatically. */
export function lookAgain({ isEnded, polling }: Outcome, { checkout }: PayerLanguage): Html | undefined {
  return isEnded || 'pollSeconds' in polling ? undefined : html`<p><a href="">${checkout.checkAgain}</a></p>`
}

export function amountText({ gross_amount, currency }: PaymentWithHistory, { money }: PayerLanguage): string {
  return money(gross_amount, currency)
}

/** The payer's amount and the payment's reference; what the shop pays and receives is below them. */
export function receipt(payment: PaymentWithHistory, language: PayerLanguage): Html {
  const { status, end_to_end_id, refunded_amount, currency } = payment
  const { checkout, hub, money } = language
  return html`<dl>
${statusRow(payment, language)}
<div><dt>${checkout.reference}</dt><dd>${end_to_end_id}</dd></div>
<div><dt>${checkout.amount}</dt><dd>${amountText(payment, language)}</dd></div>
${status === 'Refunded' ? html`<div><dt>${hub.status.Refunded}</dt><dd>${money(refunded_amount, currency)}</dd></div>` : undefined}
</dl>
${status === 'Failed' ? undefined : shares(payment, language)}`
}

/** The fee is the shop's and not the payer's. Its further digits are rounded so that both parts make the whole. */
function shares({ fee_amount, net_amount, currency }: PaymentWithHistory, { checkout, money }: PayerLanguage): Html {
  return html`<details><summary>${checkout.shares}</summary>
<dl>
<div><dt>${checkout.fee}</dt><dd>${money(fee_amount, currency, 'ceil')}</dd></div>
<div><dt>${checkout.net}</dt><dd>${money(net_amount, currency, 'floor')}</dd></div>
</dl></details>`
}

/** The status in words; programs read the API's status in the attribute. */
export function statusRow({ status }: PaymentWithHistory, { hub }: PayerLanguage): Html {
  return html`<div data-status="${status}"><dt>${hub.payment.status}</dt><dd>${hub.status[status]}</dd></div>`
}

/** The history of the payment, oldest first. */
export function history({ status_history }: PaymentWithHistory, { hub, when }: PayerLanguage): Html {
  return html`<h2>${hub.payment.history}</h2>
<ol class="steps">
${status_history.map(
  (
    change,
  ) => html`<li data-status="${change.new_status}">${hub.happened[change.new_status]} ${when(change.created_at)}</li>
`,
)}</ol>`
}
