/** The rate limit of one key: a burst, and the refill per hour. */
export type RateLimit = { burst: number; perHour: number }

/** Token buckets in memory, one per key. */
export type TokenBuckets = {
  limit: RateLimit
  /** Takes a token of a key. @returns the seconds to wait: 0 where the request may pass */
  take(key: string): number
  /** The seconds until there is a token; takes none. */
  wait(key: string): number
  /** Counts what other processes let pass: at most another burst is owed. */
  drain(key: string, count: number): void
  /** What was taken since the last call, by key; keys with less than `leastCount` are left out. */
  collect(leastCount: number): [key: string, count: number][]
}

export const SECONDS_PER_HOUR = 3_600
const BUCKETS_MAX = 10_000

/**
 * Makes buckets: a restart clears them, which allows one more burst. Beyond the maximum the least recently used bucket is
 * dropped.
 */
export function makeTokenBuckets(limit: RateLimit, now: () => number = () => performance.now() / 1_000): TokenBuckets {
  const { burst } = limit
  const perSecond = limit.perHour / SECONDS_PER_HOUR
  const buckets = new Map<string, { tokens: number; at: number; taken: number }>()
  // Rows of the map that were used since the last `collect`, so that it does not read the others.
  const used = new Set<string>()

  /** The bucket as it is now, as the most recently used one. */
  function refilled(key: string): { tokens: number; at: number; taken: number } {
    const at = now()
    const bucket = buckets.get(key) ?? { tokens: burst, at, taken: 0 }
    bucket.tokens = Math.min(burst, bucket.tokens + (at - bucket.at) * perSecond)
    bucket.at = at
    buckets.delete(key)
    buckets.set(key, bucket)
    for (const oldest of buckets.keys()) {
      if (buckets.size <= BUCKETS_MAX) break
      buckets.delete(oldest)
      used.delete(oldest)
    }
    return bucket
  }

  function secondsOf({ tokens }: { tokens: number }): number {
    // Rounded first: 40.00000000001 seconds are not 41.
    return tokens < 1 ? Math.ceil(Math.fround((1 - tokens) / perSecond)) : 0
  }

  return {
    limit,
    wait: (key) => (buckets.has(key) ? secondsOf(refilled(key)) : 0),
    take: (key) => {
      const bucket = refilled(key)
      const seconds = secondsOf(bucket)
      if (seconds > 0) return seconds
      bucket.tokens -= 1
      bucket.taken += 1
      used.add(key)
      return 0
    },
    drain: (key, count) => {
      const bucket = refilled(key)
      bucket.tokens = Math.max(-burst, bucket.tokens - count)
    },
    collect: (leastCount) => {
      const taken: [string, number][] = []
      for (const key of used) {
        const bucket = buckets.get(key)
        if (bucket === undefined) continue
        if (bucket.taken >= leastCount) taken.push([key, bucket.taken])
        bucket.taken = 0
      }
      used.clear()
      return taken
    },
  }
}
