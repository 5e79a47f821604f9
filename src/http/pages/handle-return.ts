import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { completeSca } from '../../payments/complete-sca.ts'
import { findPaymentByValidState } from '../../payments/payer-access.ts'
import { getPayment } from '../../payments/get-payment.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { ScaComplete } from '../../wire/payments.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'
import { payerLanguage } from './payer-language.ts'
import type { PayerLanguage } from './payer-language.ts'

/**
 * Handles the return of a payer from the bank: completes the authorisation with the bank's parameters, then redirects to
 * the same address without them, so that a reload repeats nothing.
 * @param path of the page that the payer returned to
 * @returns the payment to show, or the response to send
 */
export async function handleReturn(
  app: App,
  { path, query, language }: { path: string; query: URLSearchParams; language: PayerLanguage },
): Promise<{ payment: PaymentWithHistory } | { reply: PageReply }> {
  const state = query.get('state') ?? ''
  const payment = await findPaymentByValidState(app, state)
  if (payment === null) return { reply: unknownPayment(language) }
  const code = query.get('code')
  const error = query.get('error')
  if (code === null && error === null) {
    return { payment: await getPayment(app, { merchantId: payment.merchant_id, id: payment.id }) }
  }
  const body = ScaComplete.safeParse(code === null ? { state, error } : { state, code })
  if (!body.success) return { reply: unknownPayment(language) }
  try {
    await completeSca(app, { id: payment.id, body: body.data, rawBody: JSON.stringify(body.data) })
  } catch (failure) {
    if (!(failure instanceof DomainError)) throw failure
    if (failure.code !== 'CONSENT_EXPIRED') return { reply: refused(failure, language) }
  }
  const kept = [...query].filter(([name]) => name === 'to' || name === 'lang')
  return { reply: seeOther(`${path}?${new URLSearchParams([['state', state], ...kept])}`) }
}

/** Where a payer sees the payment, in the language in which it was begun. */
export function returnAddress({ state, redirect_uri }: { state: string; redirect_uri: string | null }): string {
  const lang = askedIn(redirect_uri)
  return `/payments/return?${new URLSearchParams({ state, ...(lang !== null && { lang }) })}`
}

/** The language in which a payment was begun; otherwise the browser's. */
export function languageOf({ redirect_uri }: { redirect_uri: string | null }, browsers: PayerLanguage): PayerLanguage {
  const begun = payerLanguage(askedIn(redirect_uri))
  return begun.asked === undefined ? browsers : begun
}

function askedIn(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).searchParams.get('lang') : null
}

function refused(failure: DomainError, language: PayerLanguage): PageReply {
  const { checkout, pages } = language
  const tryAgain = failure.code === 'BANK_UNAVAILABLE'
  const reason = tryAgain ? checkout.failures.BANK_UNAVAILABLE : pages.notConfirmedText
  const content = html`<h1>${pages.notConfirmed}</h1>
<p>${reason}${tryAgain ? ` ${pages.triesAgain}` : ''}</p>
<p class="note" lang="en">${failure.message}.</p>`
  return page(tryAgain ? 502 : 400, {
    language,
    brand: pages.payment,
    title: pages.notConfirmed,
    content,
    ...(tryAgain ? { pollSeconds: 2 } : {}),
  })
}

/** The page for a link without a payment. */
export function unknownPayment(language: PayerLanguage): PageReply {
  const { pages } = language
  const content = html`<h1>${pages.linkTitle}</h1>
<p>${pages.linkText}</p>`
  return page(404, { language, brand: pages.payment, title: pages.linkTitle, content })
}
