import { constantTimeEqual, hmacHex, sha256Hex } from './hmac.ts'

/** The two parts of a checkout token: base64 of JSON, and after a dot the signature of the merchant's server. */
export type SplitToken = { text: string; signature: string | undefined }

/** Encodes the fields of a checkout token as the text in front of its signature (contract §Checkout token). */
export function encodeCheckoutToken(fields: object): string {
  return Buffer.from(JSON.stringify(fields), 'utf8').toString('base64')
}

/** The whole token: the text, a dot, and the hex HMAC-SHA256 of it under the webhook signing secret (decision 40). */
export function signCheckoutToken(text: string, secret: string): string {
  return `${text}.${signatureOf(text, secret)}`
}

/** Splits a token into its parts; undefined for a malformed one. */
export function splitCheckoutToken(token: string): SplitToken | undefined {
  const [text = '', signature, ...rest] = token.split('.')
  return text === '' || rest.length > 0 ? undefined : { text, signature }
}

/**
 * Decodes a token's text; undefined where it is not base64 of JSON in UTF-8. base64url is accepted too, but decoding is
 * strict: invalid characters are never skipped.
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

/**
 * Rejects JSON that no token needs: unpaired surrogates, and the key `__proto__`, which some code takes for an object's
 * prototype.
 */
function plain(key: string, value: unknown): unknown {
  const isPlain = key !== '__proto__' && (typeof value !== 'string' || value.isWellFormed())
  if (!isPlain) throw new SyntaxError('the token is not plain JSON')
  return value
}

/** Whether the token is signed with one of the merchant's secrets; never true without a signature. */
export function isSignedWith({ text, signature }: SplitToken, secrets: readonly (string | null)[]): boolean {
  if (signature === undefined) return false
  return secrets.some((secret) => secret !== null && constantTimeEqual(signature, signatureOf(text, secret)))
}

/**
 * The identity of a token's order, which is paid once (decision 40): the `jti` that the shop gives it, whatever the
 * number of tokens for it, or without one the token's own text.
 */
export function orderHash({ text, jti }: { text: string; jti: string | undefined }): string {
  return sha256Hex(jti === undefined ? text : `jti ${jti}`)
}

/** The parameter of a shop's address that has a payment's result. */
const RESULT = 'payment_result'

/**
 * A payment's result for its shop: base64url of JSON, and after a dot each the hex HMAC-SHA256 of `payment_result=` and that
 * text, under each secret. What is signed begins with the parameter's name, so that a token, which browsers hold, is never
 * a result (decision 335).
 */
export function signPaymentResult(result: object, secrets: readonly (string | null)[]): string {
  const text = Buffer.from(JSON.stringify(result), 'utf8').toString('base64url')
  const known = secrets.filter((secret) => secret !== null)
  return [text, ...known.map((secret) => signatureOf(`${RESULT}=${text}`, secret))].join('.')
}

function signatureOf(text: string, secret: string): string {
  return hmacHex(secret, Buffer.from(text, 'utf8'))
}
