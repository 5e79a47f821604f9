import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Lower-case hex of HMAC-SHA256 over the bytes; the key is the secret's text as UTF-8 (decision 37). */
export function hmacHex(secret: string, bytes: Uint8Array): string {
  return createHmac('sha256', secret).update(bytes).digest('hex')
}

/** Base64 of HMAC-SHA256 over the parts in their order, as Standard Webhooks writes signatures. */
export function hmacBase64(secret: string, ...parts: (Uint8Array | string)[]): string {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest('base64')
}

/** Lower-case hex of SHA-256 over the text as UTF-8. */
export function sha256Hex(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Whether two strings are equal, in a time that does not reveal where they differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest()) && a === b
}
