import { createHash, hash, timingSafeEqual } from 'node:crypto'

/** Lower-case hex of HMAC-SHA256 over the bytes; the key is the secret's text as UTF-8 (decision 37). */
export function hmacHex(secret: string, bytes: Uint8Array): string {
  return hmac({ secret, prefix: '', bytes, as: 'hex' })
}

/** Base64 of HMAC-SHA256 over the prefix, which is ASCII, and the bytes, as Standard Webhooks writes signatures. */
export function hmacBase64(secret: string, prefix: string, bytes: Uint8Array): string {
  return hmac({ secret, prefix, bytes, as: 'base64' })
}

const BLOCK_BYTES = 64
const HASH_BYTES = 32

/** The two blocks that a key is mixed into (RFC 2104): what comes before the message, and before its hash. */
type Pads = { inner: Buffer; outer: Buffer }

/** Of the secrets used last; beyond this number the oldest is forgotten. */
const PADS_MAX = 10_000
const pads = new Map<string, Pads>()

/** Two plain hashes cost half of what an HMAC object does, of which each message needs one. */
function hmac(input: { secret: string; prefix: string; bytes: Uint8Array; as: 'hex' | 'base64' }): string {
  const { secret, prefix, bytes, as } = input
  const { inner, outer } = padsOf(secret)
  const message = Buffer.allocUnsafe(BLOCK_BYTES + prefix.length + bytes.length)
  message.set(inner)
  message.write(prefix, BLOCK_BYTES, 'latin1')
  message.set(bytes, BLOCK_BYTES + prefix.length)
  // As text, because a buffer of its own for the result costs more than the hash.
  outer.write(hash('sha256', message, 'binary'), BLOCK_BYTES, 'binary')
  return hash('sha256', outer, as)
}

function padsOf(secret: string): Pads {
  const known = pads.get(secret)
  if (known !== undefined) return known
  const text = Buffer.from(secret, 'utf8')
  const key = text.length > BLOCK_BYTES ? hash('sha256', text, 'buffer') : text
  const made = { inner: Buffer.alloc(BLOCK_BYTES, 0x36), outer: Buffer.alloc(BLOCK_BYTES + HASH_BYTES, 0x5c) }
  for (const [at, byte] of key.entries()) {
    made.inner[at] = byte ^ 0x36
    made.outer[at] = byte ^ 0x5c
  }
  const [oldest] = pads.keys()
  if (pads.size >= PADS_MAX && oldest !== undefined) pads.delete(oldest)
  pads.set(secret, made)
  return made
}

/** Lower-case hex of SHA-256 over the text as UTF-8. */
export function sha256Hex(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Whether two strings are equal, in a time that does not reveal where they differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest()) && a === b
}
