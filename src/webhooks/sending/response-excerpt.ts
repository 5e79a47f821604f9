/** How much of an answer is kept for the merchant's eyes. */
const KEPT_MAX_BYTES = 1_024

/** The beginning of an answer's body, while its pieces come in. */
export type ResponseExcerpt = {
  add(chunk: Uint8Array): void
  /** As text that PostgreSQL can hold, of no more characters than bytes were kept; null where there was no body. */
  text(): string | null
}

/**
 * Keeps the first bytes of a body and nothing else. They are decoded once, at the end: bytes that are no UTF-8, and
 * U+0000, become U+FFFD, and a character that the cut goes through is left out.
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
      kept.push(chunk.subarray(0, room))
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

/** A character of UTF-8 has at most four bytes, so its first one is among the last three where it was cut. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    const isContinuation = (byte & 0xc0) === 0x80
    if (!isContinuation) return sizeOf(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** How many bytes a character has, by its first one. */
function sizeOf(byte: number): number {
  if (byte >= 0xf0) return 4
  if (byte >= 0xe0) return 3
  return byte >= 0xc0 ? 2 : 1
}
