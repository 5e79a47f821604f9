import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { AccountRecord } from './record.ts'
import { findAccount } from './sql.ts'

/** An account as named by a customer: any text for its id. */
export type AccountKey = { customerId: string; accountId: string }

/**
 * The balance of an account, negative when overdrawn.
 * @throws {DomainError} ACCOUNT_NOT_FOUND for an unknown id, another customer's account and an invalid id alike
 */
export async function getBalance(
  app: Pick<App, 'pool'>,
  { customerId, accountId }: AccountKey,
): Promise<Pick<AccountRecord, 'id' | 'currency' | 'balance_minor'>> {
  const account = isUuid(accountId) ? await findAccount(app.pool, { customerId, id: accountId }) : null
  if (account === null) throw accountNotFound()
  return account
}

export function accountNotFound(): DomainError {
  return new DomainError('ACCOUNT_NOT_FOUND', 'account not found', {
    next: 'GET /open-banking/v1/accounts lists yours',
  })
}
