import type { Failure } from '../../lib/failure-codes.ts'
import { MEANINGS } from '../../lib/failure-meaning.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { failureOfPayment } from '../../lib/failure-codes.ts'
import { CANCELLED_WITH_US, FAILURE_TEXTS } from './failure-texts.ts'
import { moneyText } from './money-text.ts'
import { STATUS_TEXTS } from './status-texts.ts'
import { when } from './time-text.ts'

/** Interval of reloads while a payment is in progress, and how long a page reloads automatically (decision 63). */
const REFRESH_SECONDS = 1
const LOOKING_MS = 120_000

/** The outcome of a payment, for a page. */
export type Outcome = {
  isEnded: boolean
  failure: Failure | null
  /** Whether it failed and certainly took no money from the payer. */
  nothingTaken: boolean
  /** Whether the page reloads automatically. */
  refresh: { refreshSeconds: number } | Record<string, never>
}

export function outcomeOf(payment: PaymentWithHistory): Outcome {
  const isEnded = payment.status === 'Settled' || payment.status === 'Refunded' || payment.status === 'Failed'
  const isLooking = !isEnded && Date.now() - Date.parse(payment.updated_at) < LOOKING_MS
  const failure = failureOfPayment(payment)
  const nothingTaken = failure !== null && MEANINGS[failure.code].nothingTaken
  return { isEnded, failure, nothingTaken, refresh: isLooking ? { refreshSeconds: REFRESH_SECONDS } : {} }
}

/** Why the payment failed; undefined if it did not. */
export function failureText({ failure }: Outcome): Html | undefined {
  if (failure === null) return undefined
  const { code, source } = failure
  return html`<p>${code === 'ACCESS_DENIED' && source === 'PAYER' ? CANCELLED_WITH_US : FAILURE_TEXTS[code]}</p>`
}

/** A link to check again, for a payment in progress when the page no longer reloads automatically. */
export function lookAgain({ isEnded, refresh }: Outcome): Html | undefined {
  return isEnded || 'refreshSeconds' in refresh ? undefined : html`<p><a href="">Check again</a></p>`
}

export function amountText({ gross_amount, currency }: PaymentWithHistory): string {
  return moneyText(gross_amount, currency)
}

/** Gross, fee and net amounts, and the payment's ids. */
export function receipt(payment: PaymentWithHistory): Html {
  const { status, end_to_end_id, fee_amount, net_amount, refunded_amount, currency } = payment
  const money = (amount: string) => moneyText(amount, currency)
  const shares = html`<div><dt>Fee (paid by the merchant)</dt><dd>${money(fee_amount)}</dd></div>
<div><dt>Merchant receives</dt><dd>${money(net_amount)}</dd></div>
`
  return html`<dl>
${statusRow(payment)}
<div><dt>Reference</dt><dd>${end_to_end_id}</dd></div>
<div><dt>Amount</dt><dd>${amountText(payment)}</dd></div>
${status === 'Failed' ? undefined : shares}${status === 'Refunded' ? html`<div><dt>Refunded</dt><dd>${money(refunded_amount)}</dd></div>` : undefined}
</dl>`
}

/** The status in words; programs read the API's status in the attribute. */
export function statusRow({ status }: PaymentWithHistory): Html {
  return html`<div data-status="${status}"><dt>Status</dt><dd>${STATUS_TEXTS[status].now}</dd></div>`
}

/** The history of the payment, oldest first. */
export function history({ status_history }: PaymentWithHistory): Html {
  return html`<h2>What happened</h2>
<ol class="steps">
${status_history.map(
  (
    change,
  ) => html`<li data-status="${change.new_status}">${STATUS_TEXTS[change.new_status].happened} ${when(change.created_at)}</li>
`,
)}</ol>`
}
