import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { newClientSecret } from '../identity/service-clients.ts'
import { insertMissingClients } from '../merchants/sql.ts'
import type { MerchantOfRealm } from '../merchants/sql.ts'
import { merchantRealm } from './realm-spec.ts'

export type RestoreRealmInput = {
  merchant: MerchantOfRealm
  /** The owner of the realm: the registration's id, or the merchant's if it never registered. */
  realmOwner: string
  reason?: string | undefined
  actor: Actor
}

/**
 * Creates a merchant's realm if the identity provider does not have it: the merchant is older than the provider, or the
 * provider was set up again. The realm has the three clients and no users. The server client's new secret is not
 * shown: the merchant rotates it.
 * @returns false if the realm exists
 * @throws {RealmExistsError} if a concurrent process creates it
 * @throws {IdentityUnavailableError}
 */
export async function restoreRealm(
  app: Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'publicUrl'>,
  { merchant, realmOwner, reason, actor }: RestoreRealmInput,
): Promise<boolean> {
  const { id: merchantId, realm_slug: slug, server_role: serverRole } = merchant
  if (app.identity.kind === 'none' || (await app.identity.realmExists(slug))) return false
  const realm = merchantRealm(app, {
    slug,
    displayName: merchant.trading_name,
    registrationId: realmOwner,
    secret: newClientSecret(),
    serverRole,
  })
  const write = async (db: CommonQueryMethods): Promise<void> => {
    await insertMissingClients(db, { merchantId, slug, serverRole, createdBy: actor.name })
    const action = { action: 'registration.restore_realm', merchantId, subjectId: slug, after: { realm_slug: slug } }
    await recordAction(app, db, { actor, reason, ...action })
  }
  await app.identity.createRealm(realm, (_made, db) => (db === undefined ? app.pool.transaction(write) : write(db)))
  if (!merchant.is_active) await app.identity.setRealmEnabled(slug, false)
  return true
}
