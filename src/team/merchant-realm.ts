import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { findRealm } from './members-sql.ts'

/**
 * The realm that a merchant's people and programs sign in to.
 * @throws {DomainError} SERVICE_UNAVAILABLE for a merchant of old that has none yet
 */
export async function realmOf(app: Pick<App, 'pool'>, merchantId: string): Promise<string> {
  const realm = await findRealm(app.pool, merchantId)
  if (realm !== null) return realm
  throw new DomainError('SERVICE_UNAVAILABLE', 'the merchant has no realm to sign in to', {
    next: 'an operator gives it one: svc merchants repair',
  })
}
