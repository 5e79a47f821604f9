import { createLocalJWKSet, errors } from 'jose'
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { DomainError } from '../lib/errors.ts'
import { setBounded } from '../lib/cached-lookup.ts'

export type KeySets = {
  /**
   * The key that a token's header names; null where the realm has no such key, or does not exist.
   * @throws {DomainError} IDP_UNAVAILABLE when nothing is known of the realm and the provider gives no answer
   */
  keyOf(slug: string, header: JWSHeaderParameters): Promise<CryptoKey | null>
}

export type KeySetsOptions = {
  /** A realm's public keys; null where there is no such realm (identity/provider.ts `keys`). */
  fetch(slug: string): Promise<JSONWebKeySet | null>
  now?: () => number
}

/** Realms whose keys a process holds; the one whose keys were asked for longest ago makes room. */
const REALMS_MAX = 1_000
/** How long a set holds without a look at the provider (decision 43). */
const FRESH_MS = 600_000
/** How long it goes on verifying while the provider gives no answer. Its tokens end within 15 minutes anyway. */
const STALE_MS = 86_400_000
/** How often a key that is not in the set may make us look again, for a realm (decision 43). */
const UNKNOWN_KEY_COOLDOWN_MS = 30_000
/** How long "there is no such realm" holds, and "the provider gives no answer". */
const NO_REALM_MS = 30_000
const NO_ANSWER_MS = 2_000
const FETCH_TIMEOUT_MS = 2_000

type LocalSet = ReturnType<typeof createLocalJWKSet>

type Realm = {
  /** Null where the realm does not exist; undefined where nothing is known. */
  keys: LocalSet | null | undefined
  fetchedAt: number
  failedAt: number
  /** When a key that was not in the set last made us look again. */
  unknownKeyFetchedAt: number
  pending: Promise<void> | undefined
}

/** Realms' public keys, each set fetched once at a time and kept (decision 43). */
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
      // Whatever it was: the provider did not give a key set. Its own health check tells why.
      realm.failedAt = now()
    } finally {
      realm.pending = undefined
    }
  }

  /** One fetch at a time for a realm: whoever comes meanwhile waits for the same. */
  function fetchOnce(slug: string, realm: Realm): Promise<void> {
    realm.pending ??= load(slug, realm)
    return realm.pending
  }

  async function refresh(slug: string, realm: Realm): Promise<void> {
    const isFresh = now() - realm.fetchedAt < (realm.keys === null ? NO_REALM_MS : FRESH_MS)
    if (!isFresh && now() - realm.failedAt >= NO_ANSWER_MS) {
      const wasAway = isAway(realm)
      const pendingFetch = fetchOnce(slug, realm)
      // Once it has failed to answer, nobody who can do without it waits for it.
      if (realm.keys === undefined || !wasAway) await pendingFetch
    }
    if (realm.keys === undefined || now() - realm.fetchedAt >= STALE_MS) throw unavailable()
  }

  /** A key that is not in the set may be newer than it; but not every stranger's key id is worth a question. */
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
      // It may well be genuine, and only the provider could say.
      if (newer === null && isAway(realm)) throw unavailable()
      return newer
    },
  }
}

/** Whether the provider gave no answer when it was last asked for the realm. */
function isAway(realm: Realm): boolean {
  return realm.failedAt > realm.fetchedAt
}

function unavailable(): DomainError {
  return new DomainError('IDP_UNAVAILABLE', 'the identity provider gives no answer, so the token is not checked', {
    next: 'repeat the request in a few seconds',
    retryAfterSeconds: NO_ANSWER_MS / 1000,
  })
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

/** The provider has a time-out of its own; requests that wait here need one that can be relied on. */
async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the provider gave no key set in time')), FETCH_TIMEOUT_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
