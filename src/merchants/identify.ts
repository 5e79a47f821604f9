import type { App } from '../app.ts'
import { findMember } from './identify-sql.ts'
import type { KnownMember } from './identify-sql.ts'
import type { MerchantClient } from './record.ts'
import { findMerchantClient } from './sql.ts'

/** Longer than any client id; what is longer is not looked up. */
const CLIENT_ID_LENGTH_MAX = 255

/**
 * The merchant that a client id speaks for, and as what; null for an id that is nobody's or was revoked. A client id
 * never changes hands, but may be revoked: callers remember it for seconds only.
 */
export async function identifyMerchant(app: Pick<App, 'pool'>, clientId: string): Promise<MerchantClient | null> {
  const isPossible = clientId !== '' && clientId.length <= CLIENT_ID_LENGTH_MAX && !clientId.includes('\u0000')
  return isPossible ? findMerchantClient(app.pool, clientId) : null
}

/**
 * What the service knows of the person with this `sub`; null where that is nothing, as of people whom an administrator
 * of the identity provider has added: their token alone says who they are.
 */
export function identifyMember(
  app: Pick<App, 'pool'>,
  person: { merchantId: string; subject: string },
): Promise<KnownMember | null> {
  return findMember(app.pool, person)
}
