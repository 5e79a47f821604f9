import type { RateLimit } from '../../../lib/token-buckets.ts'
import type { EmbeddedParts } from '../parts.ts'

/** Limits of the endpoints that need no credentials (decision 32). */
const ALLOWANCES = {
  login: { burst: 30, perHour: 600 },
  forgot: { burst: 20, perHour: 20 },
  device: { burst: 20, perHour: 120 },
  // Whole offices and data centres share one address: these limits stop floods without blocking sign-ins.
  authorize: { burst: 300, perHour: 18_000 },
  deviceAuthorization: { burst: 60, perHour: 3_600 },
  token: { burst: 600, perHour: 36_000 },
} satisfies Record<string, RateLimit>

export type ThrottleKey = keyof typeof ALLOWANCES

/** Returns 0 if the request may pass, otherwise the seconds to wait. */
export type Throttle = (door: ThrottleKey, address: string) => number

/** Off unless rate limits are configured. */
export function makeThrottle({
  config,
  rates,
  networks,
}: Pick<EmbeddedParts, 'config' | 'rates' | 'networks'>): Throttle {
  if (!config.rateLimits) return () => 0
  const buckets = new Map(
    Object.entries(ALLOWANCES).map(([door, allowance]) => [door, rates.networkBuckets(`sign-in ${door}`, allowance)]),
  )
  return (door, address) => buckets.get(door)?.(networks(address)) ?? 0
}
