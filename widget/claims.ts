import type { CheckoutToken } from '../src/wire/checkout.ts'

/** The token's claims that the browser uses. They are not verified here: the service verifies the token itself. */
export type Claims = Pick<CheckoutToken, (typeof NEEDED)[number] | 'jti'>

const NEEDED = ['merchantClientId', 'callbackOrigin', 'returnUrl', 'merchantName'] as const

/** Reads a token, signed or not (decision 40), in either base64 alphabet; null if it is not a token. */
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
