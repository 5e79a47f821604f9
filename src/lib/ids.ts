/** The source of ids and random values: injected, so that the sandbox can make a run reproducible. */
export type Ids = {
  /** A UUID version 7: ordered by creation, which keeps index inserts at the right-hand side. */
  uuid(): string
  /** `evt_<millisecond timestamp>_<16 base32 characters>` (contract §Webhook delivery; decision 38). */
  eventId(): string
  /** `SVC` and the 32 hex digits of a random UUID: 35 characters (contract §Payment intent; decision 42). */
  endToEndId(): string
  /** The unguessable `state` of a payment at its bank: the time in base 36, and a token (decision 416). */
  state(): string
  /** An unguessable token of 32 random bytes as base64url. */
  token(): string
  /** A number in [0, 1), for jitter. */
  random(): number
  /**
   * The random values of one thing, identified by its natural key: first its kind, such as `payment`, then its
   * identifiers. Without a seed it returns this generator itself. In a service with a seed it returns a stream that
   * restarts with every call and depends on seed and key alone, so that a repeated request, and the loser of a race,
   * gets the same values: a key must belong to one row, or lead to the same row.
   */
  for(...key: string[]): Ids
  /** Whether values of `for` are predictable with the seed: only in the sandbox. */
  readonly isSeeded: boolean
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Ids from the system's own randomness. `now` gives milliseconds since 1970. */
export function makeIds(now: () => number = Date.now): Ids {
  const randomBytes = makeRandomBytes()
  const uuidv7 = makeUuidv7(now)
  const token = (): string => randomBytes(32).toString('base64url')
  return {
    uuid: uuidv7,
    eventId: () => `evt_${now()}_${base32(randomBytes(16))}`,
    endToEndId: () => `SVC${crypto.randomUUID().replaceAll('-', '')}`,
    state: () => now().toString(36) + token(),
    token,
    random: () => Math.random(),
    for() {
      return this
    },
    isSeeded: false,
  }
}

/** Bytes fetched from the system at once: fetching costs more than everything else about an id. */
const RANDOM_BYTES_AT_ONCE = 4_096

/** Buffered random bytes, each returned once. */
function makeRandomBytes(): (size: number) => Buffer {
  let buffer = Buffer.alloc(0)
  let used = 0
  return (size) => {
    if (used + size > buffer.length) {
      // The global is loaded on first use: the command line's help does not need it.
      buffer = crypto.getRandomValues(Buffer.alloc(RANDOM_BYTES_AT_ONCE))
      used = 0
    }
    used += size
    return buffer.subarray(used - size, used)
  }
}

/** The time, and then the random part of a version 4, which has the same form and the same 74 bits. */
function makeUuidv7(now: () => number): () => string {
  let head = ''
  let headOf = Number.NaN
  return () => {
    const ms = now()
    if (ms !== headOf) {
      const time = ms.toString(16).padStart(12, '0')
      head = `${time.slice(0, 8)}-${time.slice(8)}-7`
      headOf = ms
    }
    return head + crypto.randomUUID().slice(head.length)
  }
}

/** A character for each byte, from its lowest five bits. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += BASE32[byte & 31]
  return text
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID; ids are checked before they reach SQL. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
