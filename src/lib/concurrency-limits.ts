import { DomainError } from '../lib/errors.ts'

const RETRY_AFTER_SECONDS = 10

/** At most `max` connections of this key, such as those of one merchant, at a time. */
export type ConnectionLimit = { key: string; max: number }

/**
 * Counts open connections against limits.
 * @returns `acquire` counts a connection against every limit, or throws RATE_LIMITED and counts it against none; it
 *   returns a function that releases the connection
 */
export function makeConnectionLimits(): { acquire(limits: readonly ConnectionLimit[]): () => void } {
  const counts = new Map<string, number>()
  const change = (key: string, by: number): void => {
    const count = (counts.get(key) ?? 0) + by
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }
  return {
    acquire: (limits) => {
      if (limits.some(({ key, max }) => (counts.get(key) ?? 0) >= max)) {
        throw new DomainError('RATE_LIMITED', 'the limit of open streams is reached', {
          next: 'close one of them, or try again later',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
      for (const { key } of limits) change(key, 1)
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        for (const { key } of limits) change(key, -1)
      }
    },
  }
}
