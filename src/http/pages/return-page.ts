import type { App } from '../../app.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { tradingNameOf } from '../../merchants/trading-name.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'
import { amountText, failureText, history, lookAgain, outcomeOf, receipt } from './payment-outcome.ts'
import type { Outcome } from './payment-outcome.ts'
import { handleReturn } from './handle-return.ts'

/**
 * The page that the bank redirects the payer back to (contract §Development and test routes, /payments/return). Completes
 * the authorisation with the bank's parameters, then shows the payment while it is in progress, and finally its receipt.
 */
export async function returnPage(app: App, query: URLSearchParams): Promise<PageReply> {
  const taken = await handleReturn(app, { path: '/payments/return', query })
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

/** Returns payers of a checkout to its shop, in this tab or the one where they left it. */
function wayBack({ return_url: returnUrl }: PaymentWithHistory, { isEnded }: Outcome, shop: string): Html | undefined {
  if (returnUrl === null || !isEnded) return undefined
  return html`<a class="next" href="${returnUrl}">Return to ${shop}</a>
<p class="hint">If the shop is still open in another tab or on another device, continue there: you can close this page.</p>`
}
