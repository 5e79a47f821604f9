import { createHash } from 'node:crypto'
import { base32, makeIds } from './ids.ts'
import type { Ids } from './ids.ts'
import { seededBits48, seededUuid } from './seeded-random.ts'

/** How many numbers the 13 digits of an event id have. */
const MOMENTS = 10_000_000_000_000

/** What six bytes can say. */
const SIX_BYTES = 2 ** 48

/**
 * Ids that are the same for the same seed, whatever the order, the number or the time of the calls: each thing draws from
 * a stream of its own key. What is drawn without a key is `chance`, as everywhere. For the ephemeral sandbox alone.
 */
export function makeSeededIds(seed: string, random: Ids = makeIds()): Ids {
  return { ...random, for: (...key) => makeStream([seed, ...key]), isSeeded: true }
}

/** Its n-th draw follows from the path and n. As JSON, no two paths are the same text. */
function makeStream(path: readonly string[]): Ids {
  let count = 0
  const next = (): string => JSON.stringify([...path, (count += 1)])
  const digest = (): Buffer => createHash('sha256').update(next(), 'utf8').digest()
  return {
    uuid: () => seededUuid(next()),
    eventId: () => {
      const bytes = digest()
      // In place of the time, which no two runs have in common.
      const moment = String(bytes.readUIntBE(0, 6) % MOMENTS).padStart(13, '0')
      return `evt_${moment}_${base32(bytes.subarray(6, 22))}`
    },
    endToEndId: () => `SVC${digest().toString('hex').slice(0, 32)}`,
    token: () => digest().toString('base64url'),
    random: () => seededBits48(next()) / SIX_BYTES,
    for: (...key) => makeStream([...path, ...key]),
    isSeeded: true,
  }
}
