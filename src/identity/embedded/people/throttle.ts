import ipaddr from 'ipaddr.js'
import type { EmbeddedParts } from '../parts.ts'

/** What one client address may do: so many at once, and so many an hour after that. */
export type Allowance = { burst: number; perHour: number }

/** The doors that can be knocked on without being known (decision 32). */
const ALLOWANCES = {
  login: { burst: 30, perHour: 600 },
  forgot: { burst: 20, perHour: 20 },
  device: { burst: 20, perHour: 120 },
  // Whole offices and data centres stand behind one address: these hold off floods, and nobody who signs in.
  authorize: { burst: 300, perHour: 18_000 },
  deviceAuthorization: { burst: 60, perHour: 3_600 },
  token: { burst: 600, perHour: 36_000 },
} satisfies Record<string, Allowance>

export type Door = keyof typeof ALLOWANCES

/** 0 where the request may pass; else the seconds until the next one may. */
export type Throttle = (door: Door, address: string) => number

/** Off unless the configuration wants rate limits. */
export function makeThrottle({ config }: Pick<EmbeddedParts, 'config'>): Throttle {
  if (!config.rateLimits) return () => 0
  const buckets = new Map(Object.entries(ALLOWANCES).map(([door, allowance]) => [door, makeBuckets(allowance)]))
  return (door, address) => buckets.get(door)?.(networkOf(address)) ?? 0
}

const SECONDS_PER_HOUR = 3_600
const BUCKETS_MAX = 10_000

/**
 * Token buckets in memory, one a key: a process that starts anew has forgotten, which costs one burst. The one that was
 * not asked for longest goes first when there are too many.
 */
export function makeBuckets(
  { burst, perHour }: Allowance,
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

/** One customer of an internet provider has a /64 of IPv6 addresses to come from. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address
  return ipaddr.parse(address).toByteArray().slice(0, 8).join('.')
}
