import type { App } from '../../app.ts'
import { getCheckout } from '../../checkout/get-checkout.ts'
import { hasShopPage } from '../../checkout/shop-return.ts'
import { startPayment } from '../../checkout/start-payment.ts'
import { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { isUuid } from '../../lib/ids.ts'
import type { Checkout } from '../../wire/checkout.ts'
import { bankChoice, banksNamed } from './bank-choice.ts'
import { openCheckout } from './checkout-link.ts'
import type { CheckoutLink } from './checkout-link.ts'
import { alreadyPaidPage, rejectedCheckoutPage } from './rejected-checkout-page.ts'
import type { Shop } from './rejected-checkout-page.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'
import { languageField } from './payer-language.ts'
import type { PayerLanguage } from './payer-language.ts'

/**
 * GET /checkout: the choice of a bank, for shops without the widget and for browsers without scripts (contract
 * §Development and test routes; decision 64). With `q` it shows the banks of that name.
 */
export function checkoutPage(app: App, query: URLSearchParams, language: PayerLanguage): Promise<PageReply> {
  return withCheckout(app, { values: query, language }, async (link) => {
    const { is_paid, branding } = link.checkout
    if (is_paid) return alreadyPaidPage(shopOf(app, link), { language, accent: branding.colors.primary })
    return askForBank(app, link, { search: query.get('q') ?? '' })
  })
}

/**
 * POST /checkout: starts the payment and redirects the payer to the bank. A foreign page can send this form too, without
 * gain: the token is the only credential, there is no cookie, and any holder of the token may start its payment, which is
 * the shop's order and which the payer still has to approve at the bank.
 */
export function submitCheckout(app: App, form: URLSearchParams, language: PayerLanguage): Promise<PageReply> {
  // Parameters would make a new token each time, and a double click would create two payments.
  const values = form.has('token') ? form : new URLSearchParams({ token: '' })
  return withCheckout(app, { values, language }, async (link) => {
    const bank = app.catalogue.byId(form.get('bank'))
    const key = form.get('key') ?? ''
    if (bank === undefined || !isUuid(key))
      return askForBank(app, link, { problem: `${language.checkout.banksTitle}.` })
    const { payment } = await startPayment(app, {
      checkout: link.opened,
      // A double click is one payment; another bank is another payment, which replaces the first.
      idempotencyKey: `${key}:${bank.id}`,
      body: { debtor_bank_id: bank.id, same_tab: true, locale: language.tag },
    })
    return seeOther(payment.redirect_url ?? `/payments/return?state=${payment.payment_state ?? ''}`)
  })
}

type Opened = CheckoutLink & { checkout: Checkout; language: PayerLanguage }

/** Shows the page of a checkout, or why it is rejected: with the way back to the shop once its token is verified. */
async function withCheckout(
  app: App,
  { values, language }: { values: URLSearchParams; language: PayerLanguage },
  show: (link: Opened) => Promise<PageReply>,
): Promise<PageReply> {
  let link: CheckoutLink | undefined
  try {
    link = await openCheckout(app, values)
    return await show({ ...link, language, checkout: await getCheckout(app, link.opened) })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const shop = link === undefined ? undefined : shopOf(app, link)
    return rejectedCheckoutPage(app, { failure: error, shop, language })
  }
}

/** The payee is the merchant's registered trading name, whatever name the token has. */
function shopOf(app: App, { opened: { merchant, token } }: CheckoutLink): Shop | undefined {
  const { returnUrl } = token
  return hasShopPage(app, returnUrl) ? { name: merchant.tradingName, returnUrl } : undefined
}

type BankChoiceOptions = { search?: string; problem?: string }

function askForBank(app: App, link: Opened, { search = '', problem }: BankChoiceOptions): PageReply {
  const { merchant_name: shop, amount, currency, branding } = link.checkout
  const { language } = link
  const { checkout: texts, pages, fill, money } = language
  const back = shopOf(app, link)
  const payable = money(amount, currency)
  const params = { merchant: shop, amount: payable }
  const title = fill(pages.payShop, params)
  const content = html`<h1>${title}</h1>
<p class="amount">${payable}</p>
${problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>`}
<p>${fill(texts.consentText, params)} ${texts.safe}</p>
${consentFacts(link)}
${searchForm(link, search)}
${payForm(app, link, search)}
${back === undefined ? undefined : html`<a class="next" href="${back.returnUrl}">${fill(texts.cancel, params)}</a>`}`
  return page(problem === undefined ? 200 : 400, {
    language,
    brand: texts.banksTitle,
    title,
    content,
    // Chromium also checks the redirect after a form against form-action, and it leads to the bank.
    formTarget: `'self' ${leadsAway(app) ? 'https:' : new URL(app.publicUrl).origin}`,
    accent: branding.colors.primary,
    hasImages: true,
  })
}

/** As the widget's first screen: who gets the money under which reference, and who provides the service (decision 295). */
function consentFacts({ checkout, language: { checkout: texts, fill } }: Opened): Html {
  const { payee_name, payee_account_end: end, remittance_reference: reference, provider } = checkout
  const payee = end === null ? payee_name : `${payee_name}, ${fill(texts.accountEnd, { end })}`
  const link = (href: string | null, label: string): Html | undefined =>
    href === null
      ? undefined
      : html` <a href="${href}" target="_blank" rel="noopener">${label} <span class="hidden">${texts.newTab}</span></a>`
  return html`<dl>
<div><dt>${texts.payee}</dt><dd>${payee}</dd></div>
${reference === null ? undefined : html`<div><dt>${texts.reference}</dt><dd>${reference}</dd></div>`}
</dl>
${
  provider.name === null
    ? undefined
    : html`<p class="hint">${fill(texts.provider, { provider: provider.name })}${link(provider.terms_url, texts.terms)}${link(provider.privacy_url, texts.privacy)}</p>`
}`
}

function searchForm({ token, language }: Opened, search: string): Html {
  const { checkout: texts, pages, asked } = language
  const all = new URLSearchParams({ token, ...(asked !== undefined && { lang: asked }) })
  return html`<form class="row" method="get" action="/checkout" role="search">
<input type="hidden" name="token" value="${token}">
${languageField(language)}<label>${texts.search} <input type="search" name="q" value="${search}" maxlength="100" autocomplete="off"></label>
<button type="submit">${pages.searchButton}</button>
</form>
${search === '' ? undefined : html`<p><a href="/checkout?${all.toString()}">${pages.showAll}</a></p>`}`
}

function leadsAway({ config, catalogue }: App): boolean {
  return config.mode === 'live' || catalogue.list.some(({ connector }) => connector !== 'mock')
}

function payForm(app: App, { token, checkout, language }: Opened, search: string): Html {
  const { checkout: texts, pages, fill, money } = language
  const banks = banksNamed(app.catalogue.list, search)
  if (app.catalogue.list.length === 0) return html`<p class="problem" role="status">${pages.noBanks}</p>`
  if (banks.length === 0) return html`<p role="status">${texts.noneFound}</p>`
  return html`<form method="post" action="/checkout">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="key" value="${app.ids.uuid()}">
${languageField(language)}${bankChoice(banks, { availability: app.catalogue, language })}
<button class="main" type="submit">${fill(pages.payNow, { amount: money(checkout.amount, checkout.currency) })}</button>
</form>`
}
