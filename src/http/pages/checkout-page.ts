import type { App } from '../../app.ts'
import { startPayment } from '../../checkout/start-payment.ts'
import { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { isUuid } from '../../lib/ids.ts'
import { bankChoice, banksNamed } from './bank-choice.ts'
import { openCheckout } from './checkout-link.ts'
import type { CheckoutLink } from './checkout-link.ts'
import { alreadyPaidPage, rejectedCheckoutPage } from './rejected-checkout-page.ts'
import { moneyText } from './money-text.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

/**
 * GET /checkout: the choice of a bank, for shops without the widget and for browsers without scripts (contract
 * §Development and test routes; decision 64). With `q` it shows the banks of that name.
 */
export async function checkoutPage(app: App, query: URLSearchParams): Promise<PageReply> {
  try {
    const link = await openCheckout(app, query)
    if (link.checkout.is_paid) return alreadyPaidPage(shopOf(link))
    return askForBank(app, link, { search: query.get('q') ?? '' })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return rejectedCheckoutPage(app, error)
  }
}

/**
 * POST /checkout: starts the payment and redirects the payer to the bank. A foreign page can send this form too, without
 * gain: the token is the only credential, there is no cookie, and any holder of the token may start its payment, which is
 * the shop's order and which the payer still has to approve at the bank.
 */
export async function submitCheckout(app: App, form: URLSearchParams): Promise<PageReply> {
  let link: CheckoutLink | undefined
  try {
    // Parameters would make a new token each time, and a double click would create two payments.
    link = await openCheckout(app, form.has('token') ? form : new URLSearchParams({ token: '' }))
    const bank = app.catalogue.byId(form.get('bank'))
    const key = form.get('key') ?? ''
    if (bank === undefined || !isUuid(key)) return askForBank(app, link, { problem: 'Choose your bank.' })
    const { payment } = await startPayment(app, {
      checkout: link.opened,
      // A double click is one payment; another bank is another payment, which replaces the first.
      idempotencyKey: `${key}:${bank.id}`,
      body: { debtor_bank_id: bank.id },
    })
    return seeOther(payment.redirect_url ?? `/payments/return?state=${payment.payment_state ?? ''}`)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return rejectedCheckoutPage(app, error, link === undefined ? undefined : shopOf(link))
  }
}

function shopOf({ checkout }: CheckoutLink): { name: string; returnUrl: string } {
  return { name: checkout.merchant_name, returnUrl: checkout.return_url }
}

type BankChoiceOptions = { search?: string; problem?: string }

function askForBank(app: App, link: CheckoutLink, { search = '', problem }: BankChoiceOptions): PageReply {
  const { merchant_name: shop, amount, currency, return_url: returnUrl, branding } = link.checkout
  const payable = moneyText(amount, currency)
  const content = html`<h1>Pay ${shop}</h1>
<p class="amount">${payable}</p>
${problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>`}
<p>By continuing you authorise us to route a one-off payment of ${payable} from your bank to ${shop}. You approve it at
your bank; your bank password is never seen here.</p>
${searchForm(link, search)}
${payForm(app, link, search)}
<a class="next" href="${returnUrl}">Cancel and return to ${shop}</a>`
  return page(problem === undefined ? 200 : 400, {
    brand: 'Choose your bank',
    title: `Pay ${shop}`,
    content,
    // Chromium also checks the redirect after a form against form-action, and it leads to the bank.
    formTarget: `'self' ${leadsAway(app) ? 'https:' : new URL(app.publicUrl).origin}`,
    accent: branding.colors.primary,
    hasImages: true,
  })
}

function searchForm({ token }: CheckoutLink, search: string): Html {
  return html`<form class="row" method="get" action="/checkout" role="search">
<input type="hidden" name="token" value="${token}">
<label>Quick search <input type="search" name="q" value="${search}" maxlength="100" autocomplete="off"></label>
<button type="submit">Search</button>
</form>
${search === '' ? undefined : html`<p><a href="/checkout?${new URLSearchParams({ token }).toString()}">Show all banks</a></p>`}`
}

function leadsAway({ config, catalogue }: App): boolean {
  return config.mode === 'live' || catalogue.list.some(({ connector }) => connector !== 'mock')
}

function payForm(app: App, { token, checkout }: CheckoutLink, search: string): Html {
  const banks = banksNamed(app.catalogue.list, search)
  if (app.catalogue.list.length === 0)
    return html`<p class="problem" role="status">No bank can be paid with at the moment. Please come back later.</p>`
  if (banks.length === 0) return html`<p role="status">No bank is called “${search}”.</p>`
  return html`<form method="post" action="/checkout">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="key" value="${app.ids.uuid()}">
${bankChoice(banks, app.catalogue.isAvailable)}
<button class="main" type="submit">Pay ${moneyText(checkout.amount, checkout.currency)} by bank</button>
</form>`
}
