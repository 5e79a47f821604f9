import type { App } from '../../app.ts'
import type { DomainError, ErrorCode } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { ERROR_STATUS } from '../error-status.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'
import type { PayerLanguage } from './payer-language.ts'

type PageText = { heading: string; text: string }

/** The text of a rejected checkout, for payers. */
function textOf(code: ErrorCode, { checkout, pages }: PayerLanguage): PageText {
  const closed = { heading: pages.closedTitle, text: pages.closedText }
  const later = { heading: pages.laterTitle, text: pages.laterText }
  const texts: Partial<Record<ErrorCode, PageText>> = {
    CHECKOUT_TOKEN_INVALID: { heading: pages.invalidTitle, text: pages.invalidText },
    CHECKOUT_TOKEN_EXPIRED: { heading: pages.expiredTitle, text: pages.expiredText },
    CHECKOUT_ORIGIN_NOT_ALLOWED: { heading: pages.invalidTitle, text: pages.originText },
    CHECKOUT_ALREADY_PAID: { heading: checkout.paidBeforeTitle, text: checkout.paidBeforeText },
    CHECKOUT_ATTEMPTS_USED: { heading: pages.attemptsTitle, text: pages.attemptsText },
    MERCHANT_NOT_APPROVED: closed,
    MERCHANT_INACTIVE: closed,
    PAYOUT_HELD: closed,
    BANK_UNAVAILABLE: later,
    BANK_NOT_CONFIGURED: later,
    SERVICE_UNAVAILABLE: later,
    RATE_LIMITED: later,
  }
  return texts[code] ?? { heading: pages.otherTitle, text: pages.otherText }
}

/** The shop that a payer can return to. */
export type Shop = { name: string; returnUrl: string }

/** The page of an order that was already paid, without a choice of banks. */
export function alreadyPaidPage(
  shop: Shop | undefined,
  { language, accent }: { language: PayerLanguage; accent: string },
): PageReply {
  const { heading, text } = textOf('CHECKOUT_ALREADY_PAID', language)
  const content = html`<h1>${heading}</h1>
<p>${text}</p>
${shop === undefined ? undefined : backTo(shop, language)}`
  return page(200, { language, brand: language.pages.checkout, title: heading, content, accent })
}

function backTo({ name, returnUrl }: Shop, { checkout, fill }: PayerLanguage): Html {
  return html`<a class="next main" href="${returnUrl}">${fill(checkout.back, { merchant: name })}</a>`
}

/**
 * The page of a rejected checkout. In the sandbox it shows the shop's developer the broken rule.
 * @param shop the shop that the payer came from; only with a verified token
 */
export function rejectedCheckoutPage(
  { config }: Pick<App, 'config'>,
  { failure, shop, language }: { failure: DomainError; shop: Shop | undefined; language: PayerLanguage },
): PageReply {
  const { heading, text } = textOf(failure.code, language)
  const content = html`<h1>${heading}</h1>
<p>${text}</p>
${shop === undefined ? undefined : backTo(shop, language)}
${
  config.mode === 'live'
    ? undefined
    : html`<p class="note">${language.checkout.developer}: <span lang="en"><code>${failure.code}</code>, ${failure.message}.${
        failure.next === undefined ? '' : ` Next step: ${failure.next}.`
      }</span></p>`
}`
  const reply = page(ERROR_STATUS[failure.code], {
    language,
    brand: language.pages.checkout,
    title: heading,
    content,
  })
  const { retryAfterSeconds } = failure
  if (retryAfterSeconds === undefined) return reply
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } }
}
