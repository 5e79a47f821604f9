import type { App } from '../app.ts'
import type { MerchantIdentity } from './record.ts'
import { findMerchantByClientId } from './sql.ts'

/** Longer than any client id; what is longer is not looked up. */
const CLIENT_ID_LENGTH_MAX = 255

/** The merchant that a client id belongs to, or null. A client id never changes hands, so callers may remember it. */
export async function identifyMerchant(app: Pick<App, 'pool'>, clientId: string): Promise<MerchantIdentity | null> {
  const isPossible = clientId !== '' && clientId.length <= CLIENT_ID_LENGTH_MAX && !clientId.includes('\u0000')
  return isPossible ? findMerchantByClientId(app.pool, clientId) : null
}
