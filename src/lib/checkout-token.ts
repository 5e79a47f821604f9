import { constantTimeEqual, hmacHex, sha256Hex } from './hmac.ts'

/** A checkout token in its two parts: base64 of JSON, and after a dot what a merchant's server signed that text with. */
export type SplitToken = { text: string; signature: string | undefined }

/** What a checkout token says, as the text that stands before its signature (contract §Checkout token). */
export function encodeCheckoutToken(fields: object): string {
  return Buffer.from(JSON.stringify(fields), 'utf8').toString('base64')
}

/** The whole token: the text, a dot, and the hex HMAC-SHA256 of it under the webhook signing secret (decision 40). */
export function signCheckoutToken(text: string, secret: string): string {
  return `${text}.${signatureOf(text, secret)}`
}

/** Takes a token apart; undefined where it can't be one. */
export function splitCheckoutToken(token: string): SplitToken | undefined {
  const [text = '', signature, ...rest] = token.split('.')
  return text === '' || rest.length > 0 ? undefined : { text, signature }
}

/**
 * Reads what a token says; undefined where that is not base64 of JSON in UTF-8. The alphabet for addresses is taken too,
 * but a text has one reading alone: nothing is skipped over.
 */
export function readCheckoutText(text: string): unknown {
  const bytes = Buffer.from(text, 'base64')
  const standard = bytes.toString('base64')
  const forAddresses = standard.replaceAll('+', '-').replaceAll('/', '_')
  if (![standard, forAddresses, bytes.toString('base64url')].includes(text)) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), plain)
  } catch {
    return undefined
  }
}

/** What JSON can write but no token needs: half a character, and the name that some take for an object's prototype. */
function plain(key: string, value: unknown): unknown {
  const isPlain = key !== '__proto__' && (typeof value !== 'string' || value.isWellFormed())
  if (!isPlain) throw new SyntaxError('the token is no plain JSON')
  return value
}

/** Whether one of a merchant's secrets has signed the token; a token without a signature has none. */
export function isSignedWith({ text, signature }: SplitToken, secrets: readonly (string | null)[]): boolean {
  if (signature === undefined) return false
  return secrets.some((secret) => secret !== null && constantTimeEqual(signature, signatureOf(text, secret)))
}

/**
 * What stands for the order of a token, which is paid once (decision 40): the name that the shop gives it in `jti`, however
 * often it makes a token for it, and without one the token's own text.
 */
export function orderHash({ text, jti }: { text: string; jti: string | undefined }): string {
  return sha256Hex(jti === undefined ? text : `jti ${jti}`)
}

function signatureOf(text: string, secret: string): string {
  return hmacHex(secret, Buffer.from(text, 'utf8'))
}
