import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { findRealm } from '../merchants/sql.ts'

/** The realm of a merchant's people and programs; null for an older merchant without one. */
export function knownRealmOf(app: Pick<App, 'pool'>, merchantId: string): Promise<string | null> {
  return findRealm(app.pool, merchantId)
}

/**
 * The realm of a merchant's people and programs, where there must be one.
 * @throws {DomainError} SERVICE_UNAVAILABLE for an older merchant without a realm
 */
export async function realmOf(app: Pick<App, 'pool'>, merchantId: string): Promise<string> {
  const realm = await findRealm(app.pool, merchantId)
  if (realm === null) throw noRealm()
  return realm
}

/**
 * The realm, checked to exist before something is created in it: a merchant may be older than its identity provider.
 * @throws {DomainError} SERVICE_UNAVAILABLE
 * @throws {IdentityUnavailableError}
 */
export async function existingRealmOf(app: Pick<App, 'pool' | 'identity'>, merchantId: string): Promise<string> {
  const realm = await realmOf(app, merchantId)
  if (app.identity.kind !== 'none' && !(await app.identity.realmExists(realm))) throw noRealm()
  return realm
}

function noRealm(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', 'the merchant has no realm', {
    next: 'an operator can create it: svc merchants repair <realm>',
  })
}
