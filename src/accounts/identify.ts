import type { App } from '../app.ts'
import { isCredentialId } from '../lib/realms.ts'
import { findCustomerId } from './identify-sql.ts'

/** Whom the bank does not know: the id of no row, so that nothing is found under it. */
export const NO_CUSTOMER = '00000000-0000-0000-0000-000000000000'

/**
 * The customer that a credential is of: the one that its client was made for, else the one whose external id is the
 * token's `sub` (decision 9). A credential is only ever its own customer's, whatever its `sub` says. Null where there is
 * none.
 */
export function identifyCustomer(
  app: Pick<App, 'pool'>,
  credential: { clientId: string; externalId: string },
): Promise<string | null> {
  const { clientId, externalId } = credential
  return findCustomerId(app.pool, { clientId, externalId: isCredentialId(clientId) ? null : externalId })
}
