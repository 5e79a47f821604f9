/** How much of a response is kept for the merchant to see. */
const KEPT_MAX_BYTES = 1_024

/** Collects the beginning of a response body from its chunks. */
export type ResponseExcerpt = {
  add(chunk: Uint8Array): void
  /**
   * The excerpt as text that PostgreSQL can store, with at most as many characters as bytes kept; null without a body.
   */
  text(): string | null
}

/**
 * Keeps only the first bytes of a body. They are decoded once, at the end: invalid UTF-8 and U+0000 become U+FFFD, and
 * a truncated last character is dropped.
 */
export function makeResponseExcerpt(): ResponseExcerpt {
  const kept: Uint8Array[] = []
  let keptBytes = 0
  let isCut = false
  return {
    add: (chunk) => {
      const room = KEPT_MAX_BYTES - keptBytes
      if (chunk.length > room) isCut = true
      if (room === 0) return
      // Copied, because the next read of any connection overwrites it.
      kept.push(Buffer.from(chunk.subarray(0, room)))
      keptBytes += Math.min(chunk.length, room)
    },
    text: () => {
      if (keptBytes === 0) return null
      const bytes = Buffer.concat(kept, keptBytes)
      const text = (isCut ? withoutCutCharacter(bytes) : bytes).toString('utf8')
      return text.replaceAll('\u0000', '\uFFFD')
    },
  }
}

/** A UTF-8 character has at most four bytes, so the first byte of a truncated one is among the last three. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    const isContinuation = (byte & 0xc0) === 0x80
    if (!isContinuation) return sizeOf(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** The length of a character in bytes, from its first byte. */
function sizeOf(byte: number): number {
  if (byte >= 0xf0) return 4
  if (byte >= 0xe0) return 3
  return byte >= 0xc0 ? 2 : 1
}
