import { createHash } from 'node:crypto'

/** A reproducible random number generator, in whole numbers only. For the sandbox's data, never for a secret. */
export type SeededRandom = {
  /** From 0 up to, and not including, `size`, which is at most 2³². */
  below(size: number): number
  /** From `min` to `max`, both included. */
  between(min: number, max: number): number
  /** True with this probability in percent. */
  chance(percent: number): boolean
  /** @throws {RangeError} when the list is empty */
  pick<T>(items: readonly T[]): T
}

/** A generator for each seed (sfc32, initialised with the seed's SHA-256). */
export function seededRandom(seed: string): SeededRandom {
  const state = new Uint32Array(4)
  const digest = digestOf(seed)
  for (const index of state.keys()) state[index] = digest.readUInt32LE(index * 4)
  function next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = state
    const drawn = (a + b + counter) >>> 0
    state[0] = b ^ (b >>> 9)
    state[1] = c + (c << 3)
    state[2] = ((c << 21) | (c >>> 11)) + drawn
    state[3] = counter + 1
    return drawn
  }
  const below = (size: number): number => next() % size
  return {
    below,
    between: (min, max) => min + below(max - min + 1),
    chance: (percent) => below(100) < percent,
    pick: (items) => {
      const item = items[below(Math.max(1, items.length))]
      if (item === undefined) throw new RangeError('the list to pick from is empty')
      return item
    },
  }
}

/** The first six bytes of a text's SHA-256, as a number. */
export function seededBits48(seed: string): number {
  return digestOf(seed).readUIntBE(0, 6)
}

/** The UUID derived from a text: version 8 (RFC 9562), its bits from the text's SHA-256. */
export function seededUuid(seed: string): string {
  const hex = digestOf(seed).toString('hex')
  const variant = ((Number.parseInt(hex.slice(15, 16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-${variant}${hex.slice(16, 19)}-${hex.slice(19, 31)}`
}

function digestOf(seed: string): Buffer {
  return createHash('sha256').update(seed, 'utf8').digest()
}
