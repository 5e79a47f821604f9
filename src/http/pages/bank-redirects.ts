import type { IncomingHttpHeaders } from 'node:http'
import type { App } from '../../app.ts'
import { BankUnavailableError, bankOf } from '../../banks/connector.ts'
import { recordStrayReturn } from '../../banks/obie/stray-return.ts'
import type { ReturnOutcome } from '../../banks/redirects.ts'
import { sha256Hex } from '../../lib/hmac.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { withParameters } from '../../lib/web-address.ts'
import { findPaymentByValidState } from '../../payments/payer-access.ts'
import type { PaymentRecord } from '../../payments/record.ts'
import { isOwnForm } from '../local-pages.ts'
import { languageOf, returnAddress, unknownPayment } from './handle-return.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'
import type { PayerLanguage } from './payer-language.ts'

/** How long a bank may take to receive a request object, or to give its keys. */
const ASK_TIMEOUT_MS = 5_000

/** How long a payer may take at the bank, in seconds; consents end before. */
const COOKIE_SECONDS = 86_400

/** 32 random bytes as base64url. */
const BROWSER_FORM = /^[\w-]{43}$/

/**
 * Sends the payer to the bank. The cookie marks the browser, as an answer that comes back in another one is not believed:
 * else the link of an attacker's own approval could complete another payer's checkout, or a stolen answer be used.
 */
export async function sendToBank(
  app: App,
  {
    query,
    headers,
    language: browsers,
  }: { query: URLSearchParams; headers: IncomingHttpHeaders; language: PayerLanguage },
): Promise<PageReply> {
  const state = query.get('state') ?? ''
  const payment = await findPaymentByValidState(app, state)
  const redirects = payment === null ? undefined : bankOf(app.banks, payment.bank_connector).redirects
  if (payment === null || redirects === undefined) return unknownPayment(browsers)
  if (payment.status !== 'AwaitingAuthorisation' || payment.consent_ended)
    return seeOther(returnAddress({ ...payment, state }))
  const browser = browserOf(app, headers) ?? app.ids.token()
  try {
    const { location } = await redirects.begin({ state, browser: sha256Hex(browser) }, timeout())
    const reply = seeOther(location)
    return { ...reply, headers: { ...reply.headers, 'set-cookie': cookieOf(app, browser) } }
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payment_id: payment.id }, 'the bank did not take the payer')
    const language = languageOf(payment, browsers)
    const href = `/bank/authorise?${new URLSearchParams({ state }).toString()}`
    return silentBank(html`<a class="next main" href="${href}">${language.checkout.again}</a>`, language)
  }
}

/**
 * The page that the bank redirects to. Its answer is in the fragment, which only the browser sees, so a script sends it to
 * us once, and takes it out of the address and the history first.
 */
export function bankReturnPage(language: PayerLanguage): PageReply {
  const { pages } = language
  const content = html`<h1>${pages.fromBank}</h1>
<p role="status">${pages.moment}.</p>
<noscript><p class="problem">${pages.needsScript}</p></noscript>
<form method="post" action="/bank/return"><input type="hidden" name="answer"></form>`
  return page(200, {
    language,
    brand: pages.payment,
    title: pages.fromBank,
    content,
    formTarget: "'self'",
    referrer: 'same-origin',
    script: SEND_ANSWER,
  })
}

const SEND_ANSWER = `const form = document.forms[0]
form.elements.answer.value = (location.hash || location.search).slice(1)
history.replaceState(null, '', location.pathname)
form.submit()`

/** Verifies the bank's answer, and sends the payer on to the merchant's page with a code of ours, or the bank's error. */
export async function receiveBankReturn(
  app: App,
  {
    form,
    headers,
    language: browsers,
  }: { form: URLSearchParams; headers: IncomingHttpHeaders; language: PayerLanguage },
): Promise<PageReply> {
  if (!isOwnForm(headers, app.publicUrl)) return notBelieved(browsers)
  const answer = form.get('answer') ?? ''
  const params = new URLSearchParams(answer)
  const states = params.getAll('state')
  const payment = states.length === 1 ? await findPaymentByValidState(app, states[0] ?? '') : null
  const redirects = payment === null ? undefined : bankOf(app.banks, payment.bank_connector).redirects
  const cookie = browserOf(app, headers)
  const browser = sha256Hex(cookie ?? '')
  if (payment === null || redirects === undefined) {
    if (cookie !== undefined) await recordStrayReturn(app, browser)
    return unknownPayment(browsers)
  }
  const language = languageOf(payment, browsers)
  try {
    const outcome = await redirects.receiveReturn({ state: payment.bank_consent_id, browser, params }, timeout())
    return goOn(app, { payment, outcome, language })
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payment_id: payment.id }, "the bank's answer could not be verified")
    const again = html`<form method="post" action="/bank/return"><input type="hidden" name="answer" value="${answer}">
<button class="main">${language.checkout.again}</button></form>`
    return silentBank(again, language)
  }
}

type Answered = { payment: PaymentRecord; outcome: ReturnOutcome; language: PayerLanguage }

function goOn(app: App, { payment, outcome, language }: Answered): PageReply {
  const { checkout, pages } = language
  const { id, bank_connector: bank, bank_consent_id: state } = payment
  if (outcome.outcome === 'refused') {
    app.log.warn({ payment_id: id, bank, reason: outcome.reason }, "a bank's answer was rejected")
    return notBelieved(language, outcome.reason)
  }
  const { outcome: _, ...answer } = outcome
  const next = withParameters(new URL(payment.redirect_uri ?? `${app.publicUrl}/payments/return`), { ...answer, state })
  // Not a redirect: it would follow a form, whose targets the page's policy would have to open to every merchant.
  const content = html`<h1>${pages.backToShop}</h1>
<p role="status">${pages.moment}.</p>
<a class="next main" href="${next}">${checkout.continue}</a>`
  return page(200, { language, brand: pages.payment, title: pages.backToShop, content, next })
}

function notBelieved(language: PayerLanguage, reason?: string): PageReply {
  const { pages } = language
  const content = html`<h1>${pages.rejected}</h1>
<p>${reason === 'OTHER_BROWSER' ? pages.otherBrowser : pages.badAnswer}</p>
<p class="hint">${reason}</p>`
  return page(400, { language, brand: pages.payment, title: pages.rejected, content })
}

function silentBank(again: Html, language: PayerLanguage): PageReply {
  const { pages } = language
  const content = html`<h1>${pages.silentBank}</h1>
<p>${pages.silentBankText}</p>
${again}`
  return page(502, {
    language,
    brand: pages.payment,
    title: pages.silentBank,
    content,
    formTarget: "'self'",
    referrer: 'same-origin',
  })
}

function timeout(): AbortSignal {
  return AbortSignal.timeout(ASK_TIMEOUT_MS)
}

/** Only https can have the prefix that keeps other hosts of the domain from setting the cookie. */
function cookieName({ publicUrl }: App): string {
  return publicUrl.startsWith('https:') ? '__Secure-svc-bank' : 'svc-bank'
}

function cookieOf(app: App, browser: string): string {
  const secure = app.publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(app)}=${browser}; Path=/bank; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`
}

function browserOf(app: App, { cookie = '' }: IncomingHttpHeaders): string | undefined {
  const pairs = cookie.split(';').map((pair) => pair.trim().split('='))
  const values = pairs.filter(([name]) => name === cookieName(app)).map(([, value = '']) => value)
  return values.length === 1 && BROWSER_FORM.test(values[0] ?? '') ? values[0] : undefined
}
