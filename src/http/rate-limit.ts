import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { RateLimit } from '../lib/token-buckets.ts'
import type { Operation } from '../wire/operation.ts'
import { requestLink, verifyLink } from '../wire/payer.ts'
import { completeSca, createPayment } from '../wire/payments.ts'
import type { Principal } from './principal.ts'

const SECONDS_PER_HOUR = 3_600
const perSecond = (count: number, burst: number): RateLimit => ({ burst, perHour: count * SECONDS_PER_HOUR })

/**
 * Rates (decisions 32, 66 and 297). Of networks: a widget that waits for its bank sends less than one request in two
 * seconds, so an office of payers fits behind one address. A new payment costs the service and the bank more than reading
 * one. Payers sign in rarely, and each attempt writes to the database. A bank reports on all its payments from one address.
 */
const OF_NETWORKS = {
  read: perSecond(20, 40),
  pay: perSecond(2, 10),
  signIn: perSecond(2, 10),
  page: perSecond(50, 200),
  /** Files that pages load: a new payer's browser asks for about thirty, most of them logos of banks. */
  file: perSecond(200, 1_000),
  /** Discovery, keys, and what the identity provider does not limit itself, in its own protocol. */
  realms: perSecond(100, 1_000),
  change: perSecond(10, 40),
  report: perSecond(200, 1_000),
  /** Credentials that are not valid. */
  refused: perSecond(5, 50),
} satisfies Record<string, RateLimit>

/** Of callers that are authenticated. */
const OF_CALLERS = { reads: perSecond(200, 400), writes: perSecond(100, 200) } satisfies Record<string, RateLimit>

export type NetworkRate = keyof typeof OF_NETWORKS

/** Operations that sign payers in. They need no credential, and are rate limited as well. */
export const SIGN_INS: ReadonlySet<string> = new Set([requestLink.name, verifyLink.name])

/** @throws {DomainError} RATE_LIMITED */
export type RateLimits = {
  /** Counts a request of a network before its credentials are checked, so that guessing is limited as well. */
  network(rate: NetworkRate, clientAddress: string | undefined): void
  /** Counts a request of an authenticated caller. */
  caller(principal: Principal, operation: Operation): void
}

/** The rate of an operation that needs no credential, or one of a payer's browser. */
export function rateOf({ name, method, access }: Operation): NetworkRate {
  if (name === createPayment.name) return 'pay'
  if (SIGN_INS.has(name)) return 'signIn'
  // A merchant's server completes the payments of all its payers.
  if (name === completeSca.name) return 'page'
  if (access.includes('bank')) return 'report'
  if (access.includes('anyone')) return method === 'GET' ? 'page' : 'change'
  return 'read'
}

/** Off unless the configuration enables rate limits. One instance serves operations and pages, or each would have the rates again. */
export function makeRateLimits({ config, rates, networks }: Pick<App, 'config' | 'rates' | 'networks'>): RateLimits {
  if (!config.rateLimits) return { network: () => undefined, caller: () => undefined }
  const ofNetworks = mapValues(OF_NETWORKS, (limit, name) => rates.networkBuckets(name, limit))
  const ofCallers = mapValues(OF_CALLERS, (limit, name) => rates.buckets(name, limit))
  return {
    network: (rate, clientAddress = '') => {
      const seconds = ofNetworks[rate](networks(clientAddress))
      if (seconds > 0) throw limited({ who: 'from this network', name: rate, limit: OF_NETWORKS[rate], seconds })
    },
    caller: (principal, { method }) => {
      const key = keyOf(principal)
      if (key === undefined) return
      const name = method === 'GET' ? 'reads' : 'writes'
      const seconds = ofCallers[name](key)
      if (seconds > 0) throw limited({ who: 'of this client', name, limit: OF_CALLERS[name], seconds })
    },
  }
}

function limited(exceeded: { who: string; name: string; limit: RateLimit; seconds: number }): DomainError {
  const { who, name, limit, seconds } = exceeded
  return new DomainError('RATE_LIMITED', `too many requests ${who}`, {
    retryAfterSeconds: seconds,
    next: 'wait a moment, then try again',
    rateLimit: { name, quota: limit.burst, windowSeconds: Math.ceil((limit.burst / limit.perHour) * SECONDS_PER_HOUR) },
  })
}

/** A client, and a person of a client that many share; undefined for payers, whose network is counted. */
function keyOf(principal: Principal): string | undefined {
  if (principal.kind === 'customer') return `customer ${principal.clientId} ${principal.customerId}`
  if (principal.kind === 'merchant')
    return `${principal.merchantId} ${principal.proof.clientId ?? ''} ${principal.actor.id}`
  return principal.kind === 'platform' ? `platform ${principal.proof.clientId ?? ''} ${principal.actor.id}` : undefined
}

function mapValues<K extends string, V, R>(record: Record<K, V>, map: (value: V, key: K) => R): Record<K, R> {
  // Object.entries loses the type of keys.
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value, key as K)])) as Record<
    K,
    R
  >
}
