/** What one key may do: so many at once, and so many an hour after that. */
export type RateLimit = { burst: number; perHour: number }

const SECONDS_PER_HOUR = 3_600
const BUCKETS_MAX = 10_000

/**
 * Token buckets in memory, one a key: a process that starts anew has forgotten, which costs one burst. The one that was
 * not asked for longest goes first when there are too many.
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
