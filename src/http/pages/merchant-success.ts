import type { App } from '../../app.ts'
import { html } from '../../lib/html.ts'
import { tradingNameOf } from '../../merchants/trading-name.ts'
import { moneyOfPayment } from './harness-money.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'
import { ENGLISH } from './payer-language.ts'
import { amountText, failureText, lookAgain, outcomeOf, statusRow } from './payment-outcome.ts'
import { handleReturn } from './handle-return.ts'

/** The return path of the harness's shop. */
export const SUCCESS_PATH = '/dev/merchant-success'

/**
 * A shop's own page after the bank (contract §Development and test routes, /dev/merchant-success). It completes the
 * payment as a shop's server would, and shows the outcome of the order.
 */
export async function merchantSuccess(app: App, query: URLSearchParams): Promise<PageReply> {
  // A return from the widget or the hosted page has no parameters: they have shown the receipt.
  if (!query.has('state')) return thankYou()
  const taken = await handleReturn(app, { path: SUCCESS_PATH, query, language: ENGLISH })
  if ('reply' in taken) return taken.reply
  const { payment } = taken
  const outcome = outcomeOf(payment)
  const thanks = outcome.isEnded ? 'Thank you for your order' : 'Thank you, we wait for your bank'
  const failed = outcome.nothingTaken ? 'Your order was not paid' : 'Your payment was not completed'
  const heading = outcome.failure === null ? thanks : failed
  const content = html`<h1>${heading}</h1>
<p class="amount">${amountText(payment, ENGLISH)}</p>
${failureText(outcome, ENGLISH)}
<dl>
${statusRow(payment, ENGLISH)}
<div><dt>Reference</dt><dd>${payment.end_to_end_id}</dd></div>
<div><dt>Payment</dt><dd>${payment.id}</dd></div>
${await moneyOfPayment(app, payment)}
</dl>
${lookAgain(outcome, ENGLISH)}
<a class="next" href="/payments/return?${new URLSearchParams({ state: payment.bank_consent_id }).toString()}">Show the receipt</a>
<a class="next" href="/dev/merchant-harness">Take another payment</a>
<p class="note">The page of a test shop. A real one ships when its server hears of the payment by a signed webhook.</p>`
  const brand = await tradingNameOf(app, payment.merchant_id)
  return page(200, { brand, title: heading, content, ...outcome.polling })
}

function thankYou(): PageReply {
  const content = html`<h1>Thank you</h1>
<p>You are back at the test shop.</p>
<a class="next" href="/widget-demo.html">Show the checkout again</a>
<a class="next" href="/dev/merchant-harness">Take another payment</a>
<p class="note">The page of a test shop. A real one ships when its server hears of the payment by a signed webhook.</p>`
  return page(200, { brand: 'Test shop', title: 'Thank you', content })
}
