import type { App } from '../../app.ts'
import type { DomainError, ErrorCode } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { ERROR_STATUS } from '../error-status.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'

type PageText = { heading: string; text: string }

const CLOSED: PageText = {
  heading: "This shop can't take payments by bank at the moment",
  text: 'You have paid nothing. Choose another way to pay, or ask the shop.',
}
const LATER: PageText = {
  heading: 'Please try again in a moment',
  text: 'The payment could not be started just now. You have paid nothing. Go back, and try again.',
}
const OTHER: PageText = {
  heading: "This payment can't be started",
  text: 'You have paid nothing. Go back to the shop and start again, or ask the shop.',
}

/** The texts of rejected checkouts, for payers. */
const TEXTS = {
  CHECKOUT_TOKEN_INVALID: {
    heading: "This checkout can't be used",
    text: 'The order that the shop sent is not valid, or was changed in transit. You have paid nothing. Go back to the shop and start again.',
  },
  CHECKOUT_TOKEN_EXPIRED: {
    heading: 'This checkout has ended',
    text: 'It was open for too long. You have paid nothing with it. Go back to the shop and start again.',
  },
  CHECKOUT_ORIGIN_NOT_ALLOWED: {
    heading: "This checkout can't be used",
    text: 'It was not opened from a page of the shop. You have paid nothing.',
  },
  CHECKOUT_ALREADY_PAID: {
    heading: 'Already paid',
    text: 'This order is already paid. You do not need to pay again. Ask the shop about your order.',
  },
  CHECKOUT_ATTEMPTS_USED: {
    heading: 'This order was tried too many times',
    text: 'You cannot pay it here any more. Go back to the shop and start again, or ask the shop.',
  },
  MERCHANT_NOT_APPROVED: CLOSED,
  MERCHANT_INACTIVE: CLOSED,
  PAYOUT_HELD: CLOSED,
  BANK_UNAVAILABLE: LATER,
  BANK_NOT_CONFIGURED: LATER,
  SERVICE_UNAVAILABLE: LATER,
  RATE_LIMITED: LATER,
} satisfies Partial<Record<ErrorCode, PageText>>

function textOf(code: ErrorCode): PageText {
  const texts: Partial<Record<ErrorCode, PageText>> = TEXTS
  return texts[code] ?? OTHER
}

type Shop = { name: string; returnUrl: string }

/** The page of an order that was already paid, without a choice of banks. */
export function alreadyPaidPage(shop: Shop): PageReply {
  const { heading, text } = TEXTS.CHECKOUT_ALREADY_PAID
  const content = html`<h1>${heading}</h1>
<p>${text}</p>
${backTo(shop)}`
  return page(200, { brand: 'Checkout', title: heading, content })
}

function backTo({ name, returnUrl }: Shop): Html {
  return html`<a class="next" href="${returnUrl}">Return to ${name}</a>`
}

/**
 * The page of a rejected checkout. In the sandbox it shows the shop's developer the broken rule.
 * @param shop the shop that the payer came from; only with a verified token
 */
export function rejectedCheckoutPage({ config }: Pick<App, 'config'>, failure: DomainError, shop?: Shop): PageReply {
  const { heading, text } = textOf(failure.code)
  const content = html`<h1>${heading}</h1>
<p>${text}</p>
${shop === undefined ? undefined : backTo(shop)}
${
  config.mode === 'live'
    ? undefined
    : html`<p class="note">For the shop's developer: <code>${failure.code}</code>, ${failure.message}.${
        failure.next === undefined ? '' : ` Next step: ${failure.next}.`
      }</p>`
}`
  const reply = page(ERROR_STATUS[failure.code], { brand: 'Checkout', title: heading, content })
  const { retryAfterSeconds } = failure
  if (retryAfterSeconds === undefined) return reply
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } }
}
