import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { isSlug } from '../lib/realms.ts'

type RotateRealmKeysInput = { realm: string; reason?: string | undefined; actor: Actor }

/**
 * Lets a realm's tokens be signed with a new key from now on, for a key that somebody may have seen. Tokens of before
 * are taken until they expire.
 * @returns the ids of all keys that tokens of the realm may be signed with
 * @throws {DomainError} REALM_NOT_FOUND, SERVICE_UNAVAILABLE where the identity provider does it by itself alone
 * @throws {IdentityUnavailableError}
 */
export async function rotateRealmKeys(
  app: Pick<App, 'pool' | 'ids' | 'identity'>,
  { realm, reason, actor }: RotateRealmKeysInput,
): Promise<string[]> {
  const before = isSlug(realm) ? await keyIdsOf(app, realm) : null
  if (before === null) throw new DomainError('REALM_NOT_FOUND', 'the identity provider has no such realm')
  if (app.identity.rotateSigningKey === undefined) {
    throw new DomainError('SERVICE_UNAVAILABLE', 'the service can not rotate keys of this identity provider', {
      next: "rotate the realm's keys at the identity provider itself",
    })
  }
  // Recorded before it is done: what follows may have taken effect even where no answer comes.
  await app.pool.transaction((tx) =>
    recordAction(app, tx, {
      actor,
      action: 'realm.rotate_keys',
      merchantId: null,
      subjectId: realm,
      reason,
      before: { key_ids: before },
    }),
  )
  await app.identity.rotateSigningKey(realm)
  return (await keyIdsOf(app, realm)) ?? []
}

async function keyIdsOf({ identity }: Pick<App, 'identity'>, realm: string): Promise<string[] | null> {
  const found = await identity.keys(realm)
  return found === null ? null : found.keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid]))
}
