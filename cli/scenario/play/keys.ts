import { randomUUID } from 'node:crypto'
import { seededUuid } from '../../../src/lib/seeded-random.ts'

/** A key for something that a step makes: an idempotency key, or the reference of a merchant or customer. */
export type NewKey = (...about: readonly unknown[]) => string

/**
 * Keys by chance where there is no seed. With one, each follows from the seed, the case, what it is for, and how often
 * that was asked before; what other steps do at the same time changes none.
 */
export function makeKeys(seed: string | undefined, caseKey: string): NewKey {
  const asked = new Map<string, number>()
  return (...about) => {
    if (seed === undefined) return randomUUID()
    const what = JSON.stringify([seed, caseKey, ...about])
    const count = (asked.get(what) ?? 0) + 1
    asked.set(what, count)
    return seededUuid(`${what}\n${count}`)
  }
}
