/** The source of ids and random values: injected, so that the sandbox can make a run reproducible. */
export type Ids = {
  /** A UUID version 7: ordered by creation, which keeps index inserts at the right-hand side. */
  uuid(): string
  /** `evt_<millisecond timestamp>_<16 base32 characters>` (contract §Webhook delivery; decision 38). */
  eventId(): string
  /** `SVC` and the 32 hex digits of a random UUID: 35 characters (contract §Payment intent; decision 42). */
  endToEndId(): string
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
  return {
    uuid: () => uuidv7(now(), randomBytes(10)),
    eventId: () => `evt_${now()}_${base32(randomBytes(16))}`,
    endToEndId: () => `SVC${crypto.randomUUID().replaceAll('-', '')}`,
    token: () => randomBytes(32).toString('base64url'),
    random: () => Math.random(),
    for() {
      return this
    },
    isSeeded: false,
  }
}

/**
 * Bytes fetched from the system at once: a payment needs eight ids, and fetching costs more than everything else about
 * them.
 */
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

function uuidv7(ms: number, random: Buffer): string {
  const hex = random.toString('hex')
  const time = ms.toString(16).padStart(12, '0')
  const variant = ((Number.parseInt(hex.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
}

/** A character for each byte, from its lowest five bits. */
export function base32(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID; ids are checked before they reach SQL. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
