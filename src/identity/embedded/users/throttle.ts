import { networkOf } from '../../../lib/network-hash.ts'
import { makeTokenBuckets } from '../../../lib/token-buckets.ts'
import type { RateLimit } from '../../../lib/token-buckets.ts'
import type { EmbeddedParts } from '../parts.ts'

/** The doors that can be knocked on without being known (decision 133). */
const ALLOWANCES = {
  login: { burst: 30, perHour: 600 },
  forgot: { burst: 20, perHour: 20 },
  device: { burst: 20, perHour: 120 },
  // Whole offices and data centres stand behind one address: these hold off floods, and nobody who signs in.
  authorize: { burst: 300, perHour: 18_000 },
  deviceAuthorization: { burst: 60, perHour: 3_600 },
  token: { burst: 600, perHour: 36_000 },
} satisfies Record<string, RateLimit>

export type ThrottleKey = keyof typeof ALLOWANCES

/** 0 where the request may pass; else the seconds until the next one may. */
export type Throttle = (door: ThrottleKey, address: string) => number

/** Off unless the configuration wants rate limits. */
export function makeThrottle({ config }: Pick<EmbeddedParts, 'config'>): Throttle {
  if (!config.rateLimits) return () => 0
  const buckets = new Map(Object.entries(ALLOWANCES).map(([door, allowance]) => [door, makeTokenBuckets(allowance)]))
  return (door, address) => buckets.get(door)?.(networkOf(address)) ?? 0
}
