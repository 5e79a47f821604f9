import type { App } from '../../app.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { tradingNameOf } from '../../merchants/trading-name.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'
import { amountText, failureText, history, lookAgain, outcomeOf, receipt } from './payment-outcome.ts'
import type { Outcome } from './payment-outcome.ts'
import { takeReturn } from './take-return.ts'

/**
 * Where the bank sends the payer back to (contract §Development and test routes, /payments/return). Completes the
 * authorisation with what the bank gave, then shows the payment until it has ended, and at last its receipt.
 */
export async function returnPage(app: App, query: URLSearchParams): Promise<PageReply> {
  const taken = await takeReturn(app, { path: '/payments/return', query })
  if ('reply' in taken) return taken.reply
  const { payment } = taken
  const outcome = outcomeOf(payment)
  const shop = await tradingNameOf(app, payment.merchant_id)
  const heading = headingOf(payment, outcome)
  const content = html`<h1>${heading}</h1>
<p class="amount">${amountText(payment)}</p>
<p>${outcome.nothingTaken ? 'Nothing was paid to' : 'To'} ${shop}.</p>
${failureText(outcome)}
${wayBack(payment, outcome, shop)}
${receipt(payment)}
${history(payment)}
${lookAgain(outcome)}`
  return page(200, { brand: 'Payment', title: heading, content, ...outcome.refresh })
}

function headingOf({ status }: PaymentWithHistory, { isEnded, failure, nothingTaken }: Outcome): string {
  if (failure !== null) return nothingTaken ? 'Not paid' : 'Not completed'
  if (status === 'Refunded') return 'Refunded'
  return isEnded ? 'Paid' : 'Waiting for your bank'
}

/** Payers who came from a checkout go back to its shop, in this tab or in the one where they left it. */
function wayBack({ return_url: returnUrl }: PaymentWithHistory, { isEnded }: Outcome, shop: string): Html | undefined {
  if (returnUrl === null || !isEnded) return undefined
  return html`<a class="next" href="${returnUrl}">Return to ${shop}</a>
<p class="hint">If the shop is still open in another tab or on another device, go on there: you can close this page.</p>`
}
