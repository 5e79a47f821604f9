import type { App } from '../app.ts'
import { findMember } from './identify-sql.ts'
import type { KnownMember } from './identify-sql.ts'
import type { MerchantClient } from './record.ts'
import { findMerchantClient } from './sql.ts'

/** The maximum length of a client id; longer ones are not looked up. */
const CLIENT_ID_LENGTH_MAX = 255

/**
 * The merchant and kind of a client id; null for an unknown or revoked id. A client id never changes its merchant but
 * may be revoked, so callers cache it only for seconds.
 */
export async function identifyMerchant(app: Pick<App, 'pool'>, clientId: string): Promise<MerchantClient | null> {
  const isPossible = clientId !== '' && clientId.length <= CLIENT_ID_LENGTH_MAX && !clientId.includes('\u0000')
  return isPossible ? findMerchantClient(app.pool, clientId) : null
}

/**
 * The service's record of the person with this `sub`; null if there is none, as for users added directly at the
 * identity provider: then only the token identifies them.
 */
export function identifyMember(
  app: Pick<App, 'pool'>,
  person: { merchantId: string; subject: string },
): Promise<KnownMember | null> {
  return findMember(app.pool, person)
}
