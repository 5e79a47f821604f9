import type { App } from '../app.ts'
import { isCredentialId } from '../lib/realms.ts'
import { findCustomerId } from './identify-sql.ts'

/** The id of an unknown customer: no row has it, so that nothing is found under it. */
export const NO_CUSTOMER = '00000000-0000-0000-0000-000000000000'

/**
 * The customer of a credential: the one that its client was created for, otherwise the one whose external id is the
 * token's `sub` (decision 9). An API credential always belongs to its own customer, whatever its `sub`. Null for an
 * unknown customer.
 */
export function identifyCustomer(
  app: Pick<App, 'pool'>,
  credential: { clientId: string; externalId: string },
): Promise<string | null> {
  const { clientId, externalId } = credential
  return findCustomerId(app.pool, { clientId, externalId: isCredentialId(clientId) ? null : externalId })
}
