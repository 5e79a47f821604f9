import type { IncomingHttpHeaders } from 'node:http'
import type { App } from '../../app.ts'
import { BankUnavailableError, bankOf } from '../../banks/connector.ts'
import type { ReturnOutcome } from '../../banks/redirects.ts'
import { sha256Hex } from '../../lib/hmac.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { withParameters } from '../../lib/web-address.ts'
import { findPaymentByValidState } from '../../payments/payer-access.ts'
import type { PaymentRecord } from '../../payments/record.ts'
import { isOwnForm } from '../local-pages.ts'
import { unknownPayment } from './handle-return.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

/** How long a bank may take to receive a request object, or to give its keys. */
const ASK_TIMEOUT_MS = 5_000

/** How long a payer may take at the bank, in seconds; consents end before. */
const COOKIE_SECONDS = 86_400

/** 32 random bytes as base64url. */
const BROWSER_FORM = /^[\w-]{43}$/

const BRAND = 'Payment'

/**
 * Sends the payer to the bank. The cookie marks the browser, as an answer that comes back in another one is not believed:
 * else the link of an attacker's own approval could complete another payer's checkout, or a stolen answer be used.
 */
export async function sendToBank(
  app: App,
  { query, headers }: { query: URLSearchParams; headers: IncomingHttpHeaders },
): Promise<PageReply> {
  const state = query.get('state') ?? ''
  const payment = await findPaymentByValidState(app, state)
  const redirects = payment === null ? undefined : bankOf(app.banks, payment.bank_connector).redirects
  if (payment === null || redirects === undefined) return unknownPayment()
  if (payment.status !== 'AwaitingAuthorisation' || payment.consent_ended)
    return seeOther(`/payments/return?${new URLSearchParams({ state })}`)
  const browser = browserOf(app, headers) ?? app.ids.token()
  try {
    const { location } = await redirects.begin({ state, browser: sha256Hex(browser) }, timeout())
    const reply = seeOther(location)
    return { ...reply, headers: { ...reply.headers, 'set-cookie': cookieOf(app, browser) } }
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payment_id: payment.id }, 'the bank did not take the payer')
    return silentBank(
      html`<a class="next" href="/bank/authorise?${new URLSearchParams({ state }).toString()}">Try again</a>`,
    )
  }
}

/**
 * The page that the bank redirects to. Its answer is in the fragment, which only the browser sees, so a script sends it to
 * us once, and takes it out of the address and the history first.
 */
export function bankReturnPage(): PageReply {
  const content = html`<h1>Back from your bank</h1>
<p role="status">One moment, please.</p>
<noscript><p class="problem">Your bank's answer can only be read with JavaScript. Allow it for this page, and reload it.</p></noscript>
<form method="post" action="/bank/return"><input type="hidden" name="answer"></form>`
  return page(200, {
    brand: BRAND,
    title: 'Back from your bank',
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
  { form, headers }: { form: URLSearchParams; headers: IncomingHttpHeaders },
): Promise<PageReply> {
  if (!isOwnForm(headers, app.publicUrl)) return notBelieved()
  const answer = form.get('answer') ?? ''
  const params = new URLSearchParams(answer)
  const states = params.getAll('state')
  const payment = states.length === 1 ? await findPaymentByValidState(app, states[0] ?? '') : null
  const redirects = payment === null ? undefined : bankOf(app.banks, payment.bank_connector).redirects
  if (payment === null || redirects === undefined) return unknownPayment()
  const browser = sha256Hex(browserOf(app, headers) ?? '')
  try {
    const outcome = await redirects.receiveReturn({ state: payment.bank_consent_id, browser, params }, timeout())
    return goOn(app, payment, outcome)
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payment_id: payment.id }, "the bank's answer could not be verified")
    return silentBank(html`<form method="post" action="/bank/return"><input type="hidden" name="answer" value="${answer}">
<button class="main">Try again</button></form>`)
  }
}

function goOn(app: App, payment: PaymentRecord, outcome: ReturnOutcome): PageReply {
  const { id, bank_connector: bank, bank_consent_id: state } = payment
  if (outcome.outcome === 'refused') {
    app.log.warn({ payment_id: id, bank, reason: outcome.reason }, "a bank's answer was refused")
    return notBelieved(outcome.reason)
  }
  const { outcome: _, ...answer } = outcome
  const next = withParameters(new URL(payment.redirect_uri ?? `${app.publicUrl}/payments/return`), { ...answer, state })
  // Not a redirect: it would follow a form, whose targets the page's policy would have to open to every merchant.
  const content = html`<h1>Back to the shop</h1>
<p role="status">One moment, please.</p>
<a class="next" href="${next}">Go on</a>`
  return page(200, { brand: BRAND, title: 'Back to the shop', content, next })
}

function notBelieved(reason?: string): PageReply {
  const advice =
    reason === 'OTHER_BROWSER'
      ? 'You began this payment in another browser. Go back to it, or begin again in this one.'
      : 'What came back is not a valid answer of your bank for this payment. Go back to the shop and begin again.'
  const content = html`<h1>This payment was not confirmed</h1>
<p>${advice}</p>
<p class="hint">${reason}</p>`
  return page(400, { brand: BRAND, title: 'This payment was not confirmed', content })
}

function silentBank(again: Html): PageReply {
  const content = html`<h1>Your bank does not answer</h1>
<p>Nothing has changed. Wait a few seconds.</p>
${again}`
  return page(502, {
    brand: BRAND,
    title: 'Your bank does not answer',
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
