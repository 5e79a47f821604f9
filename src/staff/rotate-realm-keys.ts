import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { revokeKeys } from '../identity/token-cutoffs-sql.ts'
import { DomainError } from '../lib/errors.ts'
import { isSlug } from '../lib/realms.ts'
import { listKeysToRevoke } from './realm-keys-sql.ts'

type RotationApp = Pick<App, 'pool' | 'ids' | 'identity'>

type RotateRealmKeysInput = {
  realm: string
  /** For a stolen key: tokens of the old keys are rejected from now on. */
  revokeNow: boolean
  reason?: string | undefined
  actor: Actor
}

/**
 * Signs a realm's tokens with a new key from now on, such as after a key leak. Existing tokens are accepted until they
 * expire, unless `revokeNow`.
 * @returns the ids of all keys that the realm's tokens may be signed with
 * @throws {DomainError} REALM_NOT_FOUND; SERVICE_UNAVAILABLE if the service can't rotate this provider's keys
 * @throws {IdentityUnavailableError}
 */
export async function rotateRealmKeys(
  app: RotationApp,
  { realm, revokeNow, reason, actor }: RotateRealmKeysInput,
): Promise<string[]> {
  const before = isSlug(realm) ? await keyIdsOf(app, realm) : null
  if (before === null) throw new DomainError('REALM_NOT_FOUND', 'the identity provider has no such realm')
  if (app.identity.rotateSigningKey === undefined) {
    throw new DomainError('SERVICE_UNAVAILABLE', 'the service cannot rotate keys of this identity provider', {
      next: "rotate the realm's keys at the identity provider itself",
    })
  }
  // Recorded before the rotation, which may take effect even if its response is lost.
  const revoked = await app.pool.transaction(async (tx) => {
    // With those of a rotation that failed after the new key was made: the provider no longer names them.
    const keyIds = revokeNow ? [...new Set([...before, ...(await listKeysToRevoke(tx, realm))])] : []
    await recordAction(app, tx, {
      actor,
      action: 'realm.rotate_keys',
      merchantId: null,
      subjectId: realm,
      reason,
      before: { key_ids: before },
      ...(revokeNow ? { after: { revoked_key_ids: keyIds } } : {}),
    })
    return keyIds
  })
  await rotate(app, realm, { revokeNow, before, revoked })
  const after = (await keyIdsOf(app, realm)) ?? []
  return after.filter((keyId) => !revoked.includes(keyId))
}

type RotateInput = { revokeNow: boolean; before: readonly string[]; revoked: readonly string[] }

/** Revokes only once there is a new key, for without one no operator could sign in again; then whatever else fails. */
async function rotate(app: RotationApp, realm: string, { revokeNow, before, revoked }: RotateInput): Promise<void> {
  try {
    await app.identity.rotateSigningKey?.(realm, { revokeNow })
  } catch (error) {
    // Such as where the provider has made the new key, and has not deleted an old one.
    if (revokeNow && (await hasNewKey(app, realm, before))) await revokeKeys(app.pool, realm, revoked)
    throw error
  }
  if (revokeNow) await revokeKeys(app.pool, realm, revoked)
}

async function hasNewKey(app: RotationApp, realm: string, before: readonly string[]): Promise<boolean> {
  // A provider that can't be reached has the failure of the rotation reported; repeating that revokes the same keys.
  const keyIds = await keyIdsOf(app, realm).catch(() => null)
  return keyIds?.some((keyId) => !before.includes(keyId)) === true
}

async function keyIdsOf({ identity }: RotationApp, realm: string): Promise<string[] | null> {
  const found = await identity.keys(realm)
  return found === null ? null : found.keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid]))
}
