import { DomainError } from './errors.ts'

const RETRY_AFTER_SECONDS = 10

/** At most `max` of this key, such as those of one merchant, at a time. */
export type ConcurrencyLimit = { key: string; max: number }

export type ConcurrencyLimits = {
  /**
   * Counts one against every limit, or against none.
   * @returns what releases it
   * @throws {DomainError} RATE_LIMITED
   */
  acquire(limits: readonly ConcurrencyLimit[]): () => void
}

/** Counts what runs at once in this process against limits. @param what in words, for the error: `open streams` */
export function makeConcurrencyLimits(what: string): ConcurrencyLimits {
  const counts = new Map<string, number>()
  const change = (key: string, by: number): void => {
    const count = (counts.get(key) ?? 0) + by
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }
  return {
    acquire: (limits) => {
      if (limits.some(({ key, max }) => (counts.get(key) ?? 0) >= max)) {
        throw new DomainError('RATE_LIMITED', `the limit of ${what} is reached`, {
          next: 'end one of them, or try again later',
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
