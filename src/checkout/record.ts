import type { CheckoutToken } from '../wire/checkout.ts'

/** A verified checkout token with its merchant. */
export type VerifiedCheckout = {
  token: CheckoutToken
  /** The token's `callbackOrigin` as browsers write it. */
  callbackOrigin: string
  /** Identifies the order, which is paid once (decision 40): a hash of its `jti`, or of the token's text without one. */
  hash: string
  merchant: { id: string; clientId: string; tradingName: string; isActive: boolean }
}
