import type { CheckoutToken } from '../../src/wire/checkout.ts'

/** What the demo's form says. */
export type Order = {
  /** A decimal string. */
  amount: string
  currency: string
  merchantName: string
  merchantClientId: string
  /** `''` leaves it to the browser. */
  locale: string
  isFast: boolean
  noRedirect: boolean
}

/** An account of an invented payer: a token that names one takes the fast path. */
const FAST_PATH_ACCOUNT = {
  debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber',
  debtorIdentification: '20000055779911',
} as const

/** A token without a signature, as the sandbox takes it (decision 40). Each is another order. */
export function demoToken(
  { amount, currency, merchantName, merchantClientId, isFast }: Order,
  { checkoutOrigin, shopUrl }: { checkoutOrigin: string; shopUrl: string },
): string {
  const token: CheckoutToken = {
    amount,
    currency,
    merchantName,
    merchantClientId,
    apiUrl: checkoutOrigin,
    returnUrl: shopUrl,
    callbackOrigin: new URL(shopUrl).origin,
    jti: crypto.getRandomValues(new Uint32Array(4)).join('-'),
    ...(isFast ? FAST_PATH_ACCOUNT : {}),
  }
  const bytes = new TextEncoder().encode(JSON.stringify(token))
  return btoa(String.fromCharCode(...bytes))
}

/** The lines that a shop puts into its page. */
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
