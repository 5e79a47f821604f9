import type { App } from '../app.ts'
import type { TokenGate } from '../identity/verifier.ts'
import { setBounded } from '../lib/cached-lookup.ts'
import { DomainError } from '../lib/errors.ts'
import { SECONDS_PER_HOUR } from '../lib/token-buckets.ts'
import type { RateLimit } from '../lib/token-buckets.ts'
import type { Operation } from '../wire/operation.ts'
import { requestLink, verifyLink } from '../wire/payer.ts'
import { completeSca, createPayment } from '../wire/payments.ts'
import type { MerchantPrincipal } from './principal.ts'

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
  /** Tokens that were valid: a busy client sends many of them before it has a new one. */
  expired: perSecond(50, 200),
} satisfies Record<string, RateLimit>

/** Of callers that are authenticated. */
const OF_CALLERS = { reads: perSecond(200, 400), writes: perSecond(100, 200) } satisfies Record<string, RateLimit>

/**
 * Of merchants, by all their callers, for what the audit trail keeps (decision 458). Anyone can register a merchant, and every
 * action waits for the lock of the whole trail, an operator's too. A new shop sets up its team and its checkout within a burst.
 */
const OF_MERCHANTS = {
  changes: { burst: 60, perHour: 600 },
  changesBeforeApproval: { burst: 30, perHour: 120 },
} satisfies Record<string, RateLimit>

export type NetworkRate = keyof typeof OF_NETWORKS

/** Operations that sign payers in. They need no credential, and are rate limited as well. */
const SIGN_INS: ReadonlySet<string> = new Set([requestLink.name, verifyLink.name])

/** @throws {DomainError} RATE_LIMITED */
export type RateLimits = {
  /** Counts a request of a network before its credentials are checked, so that guessing is limited as well. */
  network(rate: NetworkRate, clientAddress: string | undefined): void
  /** Counts a request of an authenticated caller. */
  caller(key: string, operation: Operation): void
  /** Counts a merchant's request that may add an action to the audit trail. */
  change(merchant: Pick<MerchantPrincipal, 'merchantId' | 'kybStatus'>): void
  /**
   * Rejects tokens unread, while a network has used up its rate of refused ones: reading them costs more than counting.
   * Clients whose tokens were valid there within the hour are let through, because others behind the same address must not
   * shut them out.
   */
  tokenGate(from: { clientAddress?: string }): TokenGate
}

/** How long a process remembers that a client's token was valid in a network, and how many such pairs. */
const SEEN_MS = 3_600_000
const SEEN_MAX = 10_000

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

const nothing = (): void => undefined

/** Counts nothing and rejects nothing. */
export const NO_RATE_LIMITS: RateLimits = {
  network: nothing,
  caller: nothing,
  change: nothing,
  tokenGate: () => ({ enter: nothing, passed: nothing }),
}

/**
 * Off unless the configuration enables rate limits. One instance serves operations and pages, or each would have the
 * rates again.
 */
export function makeRateLimits({ config, rates, networks }: Pick<App, 'config' | 'rates' | 'networks'>): RateLimits {
  if (!config.rateLimits) return NO_RATE_LIMITS
  const ofNetworks = mapValues(OF_NETWORKS, (limit, name) => rates.networkBuckets(name, limit))
  const seen = new Map<string, number>()
  const ofCallers = mapValues(OF_CALLERS, (limit, name) => rates.buckets(name, limit))
  const ofMerchants = mapValues(OF_MERCHANTS, (limit, name) => rates.buckets(name, limit))
  return {
    network: (rate, clientAddress = '') => {
      const seconds = ofNetworks[rate](networks(clientAddress))
      if (seconds > 0) throw limited({ who: 'from this network', name: rate, limit: OF_NETWORKS[rate], seconds })
    },
    caller: (key, { method }) => {
      const name = method === 'GET' ? 'reads' : 'writes'
      const seconds = ofCallers[name](key)
      if (seconds > 0) throw limited({ who: 'of this client', name, limit: OF_CALLERS[name], seconds })
    },
    change: ({ merchantId, kybStatus }) => {
      const name = kybStatus === 'APPROVED' ? 'changes' : 'changesBeforeApproval'
      const seconds = ofMerchants[name](merchantId)
      if (seconds > 0) throw limited({ who: 'that change this merchant', name, limit: OF_MERCHANTS[name], seconds })
    },
    tokenGate: (from) => ({
      enter: (client) => {
        const network = networks(from.clientAddress ?? '')
        const seconds = rates.networkWait('refused', network)
        if (seconds === 0 || (seen.get(`${network.own} ${client}`) ?? 0) > performance.now()) return
        throw limited({ who: 'from this network', name: 'refused', limit: OF_NETWORKS.refused, seconds })
      },
      passed: (client) => {
        const { own } = networks(from.clientAddress ?? '')
        setBounded(seen, `${own} ${client}`, performance.now() + SEEN_MS, SEEN_MAX)
      },
    }),
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

function mapValues<K extends string, V, R>(record: Record<K, V>, map: (value: V, key: K) => R): Record<K, R> {
  // Object.entries loses the type of keys.
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value, key as K)])) as Record<
    K,
    R
  >
}
