import { createHash } from 'node:crypto'
import { base32, makeIds } from './ids.ts'
import type { Ids } from './ids.ts'
import { seededBits48, seededUuid } from './seeded-random.ts'

/** The number of values of the 13 digits in an event id. */
const MOMENTS = 10_000_000_000_000

/** The number of values of six bytes. */
const SIX_BYTES = 2 ** 48

/**
 * Ids that are the same for the same seed, whatever the order, the number or the time of the calls: each thing has a
 * stream of its own key. Values without a key come from `random`, as without a seed. Only for the ephemeral sandbox.
 */
export function makeSeededIds(seed: string, random: Ids = makeIds()): Ids {
  return { ...random, for: (...key) => makeStream([seed, ...key]), isSeeded: true }
}

/** The n-th value depends on the path and n. Written as JSON, no two paths are the same text. */
function makeStream(path: readonly string[]): Ids {
  let count = 0
  const next = (): string => JSON.stringify([...path, (count += 1)])
  const digest = (): Buffer => createHash('sha256').update(next(), 'utf8').digest()
  return {
    uuid: () => seededUuid(next()),
    eventId: () => {
      const bytes = digest()
      // Replaces the timestamp, which differs between runs.
      const moment = String(bytes.readUIntBE(0, 6) % MOMENTS).padStart(13, '0')
      return `evt_${moment}_${base32(bytes.subarray(6, 22))}`
    },
    endToEndId: () => `SVC${digest().toString('hex').slice(0, 32)}`,
    state: () => {
      const bytes = digest()
      // Digits replace the time, which differs between runs.
      return bytes.toString('hex').slice(0, 8) + bytes.toString('base64url')
    },
    token: () => digest().toString('base64url'),
    random: () => seededBits48(next()) / SIX_BYTES,
    for: (...key) => makeStream([...path, ...key]),
    isSeeded: true,
  }
}
