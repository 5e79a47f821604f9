import type { CommonQueryMethods } from 'slonik'
import { ofNoMerchant } from './merchant-scope.ts'
import { sql } from './sql.ts'

/**
 * Makes sure, before a request of a merchant needs it, that the login may act as the role of such requests.
 * @throws what the server answers to a login that may not
 */
export async function requireMerchantRole(tx: CommonQueryMethods): Promise<void> {
  await ofNoMerchant(() => tx.query(sql.typeAlias('void')`select`))
}
