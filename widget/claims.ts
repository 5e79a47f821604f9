import type { CheckoutToken } from '../src/wire/checkout.ts'

/** What the browser reads of a token. It is no proof of anything: the service checks the token for itself. */
export type Claims = Pick<CheckoutToken, 'merchantClientId' | 'callbackOrigin' | 'returnUrl' | 'merchantName'>

const NEEDED = ['merchantClientId', 'callbackOrigin', 'returnUrl', 'merchantName'] as const

/** Reads a token's text, signed or not (decision 40), in either alphabet of base64; null when it is none. */
export function readClaims(token: string): Claims | null {
  try {
    const text = (token.split('.')[0] ?? '').replace(/-/g, '+').replace(/_/g, '/')
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    const claims = JSON.parse(new TextDecoder().decode(bytes))
    return NEEDED.every((name) => typeof claims[name] === 'string') ? claims : null
  } catch {
    return null
  }
}
