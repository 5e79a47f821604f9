import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { revokeKeys } from '../identity/token-cutoffs-sql.ts'
import { DomainError } from '../lib/errors.ts'
import { isSlug } from '../lib/realms.ts'

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
  app: Pick<App, 'pool' | 'ids' | 'identity'>,
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
  await app.pool.transaction((tx) =>
    recordAction(app, tx, {
      actor,
      action: 'realm.rotate_keys',
      merchantId: null,
      subjectId: realm,
      reason,
      before: { key_ids: before },
      ...(revokeNow ? { after: { revoked_key_ids: before } } : {}),
    }),
  )
  await app.identity.rotateSigningKey(realm, { revokeNow })
  const after = (await keyIdsOf(app, realm)) ?? []
  // Last, because the operator's own tokens end too: without a new key no operator could sign in again.
  if (revokeNow) await revokeKeys(app.pool, realm, before)
  return after.filter((keyId) => !revokeNow || !before.includes(keyId))
}

async function keyIdsOf({ identity }: Pick<App, 'identity'>, realm: string): Promise<string[] | null> {
  const found = await identity.keys(realm)
  return found === null ? null : found.keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid]))
}
