import type { App } from '../../app.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { goesOnToShop, hasShopPage, shopReturnUrl } from '../../checkout/shop-return.ts'
import { getBranding } from '../../merchants/branding.ts'
import { tradingNameOf } from '../../merchants/trading-name.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'
import type { PayerLanguage } from './payer-language.ts'
import { amountText, failureText, history, lookAgain, outcomeOf, receipt } from './payment-outcome.ts'
import type { Outcome } from './payment-outcome.ts'
import { handleReturn } from './handle-return.ts'

/**
 * The page that the bank redirects the payer back to (contract §Development and test routes, /payments/return). Completes
 * the authorisation with the bank's parameters, then shows the payment while it is in progress, and finally its receipt.
 */
export async function returnPage(app: App, query: URLSearchParams, language: PayerLanguage): Promise<PageReply> {
  const taken = await handleReturn(app, { path: '/payments/return', query, language })
  if ('reply' in taken) return taken.reply
  const { payment } = taken
  const outcome = outcomeOf(payment)
  const shop = await tradingNameOf(app, payment.merchant_id)
  const { pages, fill } = language
  const heading = headingOf(payment, outcome, language)
  const back = await shopAddress(app, payment, outcome)
  // A payer who can't be served by the shop yet reads here why.
  const next = goesOnToShop(query) && outcome.isEnded && outcome.failure === null ? back : undefined
  const { colors } = await getBranding(app, payment.merchant_id)
  const content = html`${sign(outcome)}
<h1>${heading}</h1>
<p class="amount">${amountText(payment, language)}</p>
<p>${fill(outcome.nothingTaken ? pages.nothingPaid : pages.toShop, { merchant: shop })}</p>
${failureText(outcome, language)}
${wayBack(back, shop, language)}
${againByLink(app, payment, outcome) ? html`<p>${pages.openLinkAgain}</p>` : undefined}
${payment.status === 'Settled' ? html`<p class="hint">${pages.printHint}</p>` : undefined}
${receipt(payment, language)}
${history(payment, language)}
${lookAgain(outcome, language)}`
  return page(200, {
    language,
    brand: pages.payment,
    title: heading,
    content,
    next,
    accent: colors.primary,
    ...outcome.polling,
  })
}

/** The outcome at a glance; the heading says it in words. */
function sign({ isEnded, failure, polling }: Outcome): Html | undefined {
  if (failure !== null) return html`<p class="sign bad" aria-hidden="true">!</p>`
  if (isEnded) return html`<p class="sign" aria-hidden="true">✓</p>`
  return 'pollSeconds' in polling ? html`<p class="sign wait" aria-hidden="true"></p>` : undefined
}

function headingOf(
  { status }: PaymentWithHistory,
  { isEnded, failure, nothingTaken }: Outcome,
  { checkout, pages, hub }: PayerLanguage,
): string {
  if (failure !== null) return nothingTaken ? pages.notPaid : checkout.failedTitle
  return isEnded ? hub.status[status] : checkout.processingTitle
}

/** The page of the shop, once there is something for it to know: the payment has ended, or takes its time. */
async function shopAddress(app: App, payment: PaymentWithHistory, { polling }: Outcome): Promise<string | undefined> {
  const { return_url } = payment
  if ('pollSeconds' in polling || !hasShopPage(app, return_url)) return undefined
  return shopReturnUrl(app, { ...payment, return_url })
}

/** Returns payers of a checkout to its shop, in this tab or the one where they left it. */
function wayBack(back: string | undefined, shop: string, { checkout, pages, fill }: PayerLanguage): Html | undefined {
  if (back === undefined) return undefined
  return html`<a class="next main" href="${back}">${fill(checkout.back, { merchant: shop })}</a>
<p class="hint">${pages.elsewhere}</p>`
}

/** A payer of a link has no shop to go back to, and pays in another way where the link led from. */
function againByLink(app: App, { return_url }: PaymentWithHistory, { nothingTaken }: Outcome): boolean {
  return nothingTaken && return_url !== null && !hasShopPage(app, return_url)
}
