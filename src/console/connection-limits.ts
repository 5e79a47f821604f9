import { DomainError } from '../lib/errors.ts'

const RETRY_AFTER_SECONDS = 10

/** What somebody takes a seat of, and how many there are. */
export type Bench = { key: string; max: number }

/**
 * Counts who sits where.
 * @returns `take` takes one seat of each bench, or none, and answers what gives them back
 */
export function makeSeats(): { take(benches: readonly Bench[]): () => void } {
  const counts = new Map<string, number>()
  const change = (key: string, by: number): void => {
    const count = (counts.get(key) ?? 0) + by
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }
  return {
    take: (benches) => {
      if (benches.some(({ key, max }) => (counts.get(key) ?? 0) >= max)) {
        throw new DomainError('RATE_LIMITED', 'there are as many streams open as there may be', {
          next: 'end one of them, or try again later',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
      for (const { key } of benches) change(key, 1)
      let isLeft = false
      return () => {
        if (isLeft) return
        isLeft = true
        for (const { key } of benches) change(key, -1)
      }
    },
  }
}
