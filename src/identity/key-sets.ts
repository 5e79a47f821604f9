import { createLocalJWKSet, errors } from 'jose'
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { DomainError } from '../lib/errors.ts'
import { setBounded } from '../lib/cached-lookup.ts'

export type KeySets = {
  /**
   * Returns the key named in a token's header; null if the realm does not have it or does not exist.
   * @throws {DomainError} IDP_UNAVAILABLE if nothing is known about the realm and the provider does not respond
   */
  keyOf(slug: string, header: JWSHeaderParameters): Promise<CryptoKey | null>
}

export type KeySetsOptions = {
  /** Returns a realm's public keys; null if the realm does not exist (identity/provider.ts `keys`). */
  fetch(slug: string): Promise<JSONWebKeySet | null>
  now?: () => number
}

/** Maximum number of realms whose keys a process caches; the least recently fetched is evicted. */
const REALMS_MAX = 1_000
/** How long a key set is used without fetching it again (decision 43). */
const FRESH_MS = 600_000
/** How long a set is used while the provider does not respond. Its tokens expire within 15 minutes anyway. */
const STALE_MS = 86_400_000
/** Minimum time between two fetches caused by an unknown key id, per realm (decision 43). */
const UNKNOWN_KEY_COOLDOWN_MS = 30_000
/** How long a missing realm and a failed fetch are remembered. */
const NO_REALM_MS = 30_000
const NO_ANSWER_MS = 2_000
const FETCH_TIMEOUT_MS = 2_000

type LocalSet = ReturnType<typeof createLocalJWKSet>

type Realm = {
  /** Null if the realm does not exist; undefined if nothing is known. */
  keys: LocalSet | null | undefined
  fetchedAt: number
  failedAt: number
  /** When an unknown key id last caused a fetch. */
  unknownKeyFetchedAt: number
  pending: Promise<void> | undefined
}

/** Caches realms' public keys, with one fetch per realm at a time (decision 43). */
export function makeKeySets({ fetch, now = () => performance.now() }: KeySetsOptions): KeySets {
  const realms = new Map<string, Realm>()

  function realmOf(slug: string): Realm {
    const known = realms.get(slug)
    if (known !== undefined) return known
    const created: Realm = {
      keys: undefined,
      fetchedAt: -Infinity,
      failedAt: -Infinity,
      unknownKeyFetchedAt: -Infinity,
      pending: undefined,
    }
    setBounded(realms, slug, created, REALMS_MAX)
    return created
  }

  async function load(slug: string, realm: Realm): Promise<void> {
    try {
      const set = await withTimeout(fetch(slug))
      realm.keys = set === null ? null : createLocalJWKSet(set)
      realm.fetchedAt = now()
      setBounded(realms, slug, realm, REALMS_MAX)
    } catch {
      // Any failure means that the provider returned no key set. Its health check reports the reason.
      realm.failedAt = now()
    } finally {
      realm.pending = undefined
    }
  }

  /** Runs one fetch at a time for a realm; concurrent callers share it. */
  function fetchOnce(slug: string, realm: Realm): Promise<void> {
    realm.pending ??= load(slug, realm)
    return realm.pending
  }

  async function refresh(slug: string, realm: Realm): Promise<void> {
    const isFresh = now() - realm.fetchedAt < (realm.keys === null ? NO_REALM_MS : FRESH_MS)
    if (!isFresh && now() - realm.failedAt >= NO_ANSWER_MS) {
      const wasAway = isAway(realm)
      const pendingFetch = fetchOnce(slug, realm)
      // After a failed fetch only callers without any keys wait for the next one.
      if (realm.keys === undefined || !wasAway) await pendingFetch
    }
    if (realm.keys === undefined || now() - realm.fetchedAt >= STALE_MS) throw unavailable()
  }

  /**
   * Fetches again because an unknown key may be newer than the set, but limits the fetches that invented key ids can
   * cause.
   */
  async function refetchForUnknownKey(slug: string, realm: Realm): Promise<void> {
    const isCoolingDown =
      now() - realm.unknownKeyFetchedAt < UNKNOWN_KEY_COOLDOWN_MS || now() - realm.failedAt < NO_ANSWER_MS
    if (isCoolingDown && realm.pending === undefined) return
    await fetchOnce(slug, realm)
    if (!isAway(realm)) realm.unknownKeyFetchedAt = now()
  }

  return {
    keyOf: async (slug, header) => {
      const startedAt = now()
      const realm = realmOf(slug)
      await refresh(slug, realm)
      const found = await pick(realm.keys, header)
      if (found !== null || realm.keys === null || realm.fetchedAt >= startedAt) return found
      await refetchForUnknownKey(slug, realm)
      const newer = await pick(realm.keys, header)
      // The token may be genuine; only the provider could tell.
      if (newer === null && isAway(realm)) throw unavailable()
      return newer
    },
  }
}

/** Whether the last fetch for the realm failed. */
function isAway(realm: Realm): boolean {
  return realm.failedAt > realm.fetchedAt
}

function unavailable(): DomainError {
  return new DomainError(
    'IDP_UNAVAILABLE',
    'the access token cannot be verified: the identity provider does not respond',
    {
      next: 'repeat the request in a few seconds',
      retryAfterSeconds: NO_ANSWER_MS / 1000,
    },
  )
}

async function pick(keys: LocalSet | null | undefined, header: JWSHeaderParameters): Promise<CryptoKey | null> {
  if (keys === null || keys === undefined) return null
  try {
    return await keys(header)
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/** Limits the waiting time of requests, independent of the provider's own timeout. */
async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the provider returned no key set in time')), FETCH_TIMEOUT_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
