import { makePagedJob, pageOf } from '../../../lib/paged-job.ts'
import { generateSigningKey, openSigningKeys, sealSigningKeys } from './keys.ts'
import type { SigningKey } from './keys.ts'
import { ACCESS_TOKEN_SECONDS } from '../protocol/lifetimes.ts'
import type { EmbeddedParts } from '../parts.ts'
import { areKeysOld, areKeysRetired, listOldKeys, listRetiredKeys, lockRealm, updateSigningKeys } from './realms-sql.ts'
import { sweepActionTokens, sweepState } from '../protocol/state-sql.ts'

const SWEPT_AT_ONCE = 1_000
const KEYS_AT_ONCE = 10

/** A signing key is replaced after 90 days. */
const KEY_SECONDS = 90 * 86_400

/** How long clients cache a key set (decision 43). */
const KEY_CACHE_SECONDS = 600

/** A replaced key is published until the last token it may have signed has expired. */
const RETIRE_SECONDS = ACCESS_TOKEN_SECONDS + KEY_CACHE_SECONDS

const runRetiring = makePagedJob<string, string>()
const runReplacing = makePagedJob<string, string>()

/**
 * Runs one bounded round of housekeeping; several processes may run it concurrently.
 * @throws {Error} after all else is done, where the keys of a realm could not be changed; the log says why
 */
export async function maintain(parts: EmbeddedParts): Promise<{ more: boolean }> {
  const states = await sweepState(parts.pool, SWEPT_AT_ONCE)
  const links = await sweepActionTokens(parts.pool, SWEPT_AT_ONCE)
  const onFailure = (err: unknown, realm: string): void =>
    parts.log.error({ err, realm }, 'the signing keys of a realm could not be changed; it is tried again')
  const limit = KEYS_AT_ONCE
  const retiring = runRetiring(parts, {
    list: async (after) => pageOf(await listRetiredKeys(parts.pool, { limit, after }), limit),
    work: (slug) => retireKeys(parts, slug),
    onFailure,
  })
  const replacing = runReplacing(parts, {
    list: async (after) => pageOf(await listOldKeys(parts.pool, { seconds: KEY_SECONDS, limit, after }), limit),
    work: (slug) => replaceKey(parts, slug, { olderThanSeconds: KEY_SECONDS }),
    onFailure,
  })
  await Promise.allSettled([retiring, replacing])
  if (Math.max(states, links) === SWEPT_AT_ONCE) return { more: true }
  return { more: [await retiring, await replacing].some(({ more }) => more) }
}

/**
 * Signs new tokens with a new key; tokens signed before stay valid until they expire, unless `revokeNow` drops their keys.
 * @throws if the realm does not exist
 */
export async function rotateSigningKey(
  parts: EmbeddedParts,
  slug: string,
  { revokeNow = false }: { revokeNow?: boolean } = {},
): Promise<void> {
  const isRotated = await replaceKey(parts, slug, { olderThanSeconds: 0, revokeNow })
  if (!isRotated) throw new Error(`realm ${slug} does not exist`)
}

/** Adds a new signing key if the current one, read under the realm's lock, is older than the given age. */
async function replaceKey(
  parts: EmbeddedParts,
  slug: string,
  { olderThanSeconds, revokeNow = false }: { olderThanSeconds: number; revokeNow?: boolean },
): Promise<boolean> {
  const key = await generateSigningKey()
  const isReplaced = await parts.pool.transaction(async (tx) => {
    const realm = await lockRealm(tx, slug)
    if (realm === null || !(await areKeysOld(tx, slug, olderThanSeconds))) return false
    await updateSigningKeys(tx, slug, {
      signingKeys: sealSigningKeys(parts, slug, [key, ...(revokeNow ? [] : openSigningKeys(parts, realm))]),
      isRotated: true,
      retireAfterSeconds: revokeNow ? null : RETIRE_SECONDS,
    })
    return true
  })
  if (isReplaced) parts.log.info({ realm: slug, kid: key.kid }, 'signing key replaced')
  return isReplaced
}

/** Removes all keys but the signing key. */
async function retireKeys(parts: EmbeddedParts, slug: string): Promise<void> {
  await parts.pool.transaction(async (tx) => {
    const realm = await lockRealm(tx, slug)
    if (realm === null || !(await areKeysRetired(tx, slug))) return
    const [signing] = openSigningKeys(parts, realm)
    const kept: SigningKey[] = signing === undefined ? [] : [signing]
    await updateSigningKeys(tx, slug, {
      signingKeys: sealSigningKeys(parts, slug, kept),
      isRotated: false,
      retireAfterSeconds: null,
    })
  })
}
