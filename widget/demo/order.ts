import type { CheckoutToken } from '../../src/wire/checkout.ts'

/** The values of the demo's form. */
export type Order = {
  /** A decimal string. */
  amount: string
  currency: string
  merchantName: string
  merchantClientId: string
  /** `''` uses the browser's language. */
  locale: string
  isFast: boolean
  noRedirect: boolean
}

/** An invented payer's account: a token with one takes the fast path. */
const FAST_PATH_ACCOUNT = {
  debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber',
  debtorIdentification: '20000055779911',
} as const

/** Creates an unsigned token, which the sandbox accepts (decision 40). Each is a new order. */
export function demoToken(
  { amount, currency, merchantName, merchantClientId, isFast }: Order,
  { checkoutOrigin, shopUrl }: { checkoutOrigin: string; shopUrl: string },
): string {
  const token: CheckoutToken = {
    amount,
    currency,
    merchantName,
    merchantClientId,
    apiUrl: `${checkoutOrigin}/api/v1`,
    returnUrl: shopUrl,
    callbackOrigin: new URL(shopUrl).origin,
    jti: crypto.getRandomValues(new Uint32Array(4)).join('-'),
    ...(isFast ? FAST_PATH_ACCOUNT : {}),
  }
  const bytes = new TextEncoder().encode(JSON.stringify(token))
  return btoa(String.fromCharCode(...bytes))
}

/** The HTML that a shop adds to its page. */
export function snippetOf(
  { locale, noRedirect }: Order,
  { token, checkoutOrigin, containerId }: { token: string; checkoutOrigin: string; containerId: string },
): string {
  const attributes = [
    `src="${checkoutOrigin}/v1/checkout.js"`,
    `data-checkout-token="${token}"`,
    `data-container-id="${containerId}"`,
    ...(locale === '' ? [] : [`data-locale="${locale}"`]),
    ...(noRedirect ? ['data-no-redirect'] : []),
  ]
  return `<div id="${containerId}"></div>\n<script async\n  ${attributes.join('\n  ')}\n></script>`
}
