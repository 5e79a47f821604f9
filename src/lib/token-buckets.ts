/** The rate limit of one key: a burst, and the refill per hour. */
export type RateLimit = { burst: number; perHour: number }

const SECONDS_PER_HOUR = 3_600
const BUCKETS_MAX = 10_000

/**
 * Token buckets in memory, one per key: a restart clears them, which allows one more burst. Beyond the maximum the
 * least recently used bucket is dropped.
 * @returns a function that takes a token of a key, and returns the seconds to wait: 0 where the request may pass
 */
export function makeTokenBuckets(
  { burst, perHour }: RateLimit,
  now: () => number = () => performance.now() / 1_000,
): (key: string) => number {
  const perSecond = perHour / SECONDS_PER_HOUR
  const buckets = new Map<string, { tokens: number; at: number }>()
  return (key) => {
    const at = now()
    const before = buckets.get(key) ?? { tokens: burst, at }
    const tokens = Math.min(burst, before.tokens + (at - before.at) * perSecond)
    const passes = tokens >= 1
    buckets.delete(key)
    buckets.set(key, { tokens: passes ? tokens - 1 : tokens, at })
    for (const oldest of buckets.keys()) {
      if (buckets.size <= BUCKETS_MAX) break
      buckets.delete(oldest)
    }
    // Rounded first: 40.00000000001 seconds are not 41.
    return passes ? 0 : Math.ceil(Math.fround((1 - tokens) / perSecond))
  }
}
