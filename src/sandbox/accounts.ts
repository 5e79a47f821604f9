import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { fromMinorUnits } from '../lib/minor-units.ts'
import type { SandboxAccount } from '../wire/sandbox-bank.ts'
import { accountView } from './account-view.ts'
import { parseBalance } from './create-sandbox-customer.ts'
import { listAccountRows, lockAccount, updateAccount } from './customers-sql.ts'

export type SandboxAccountsQuery = {
  customer_id?: string | undefined
  merchant_id?: string | undefined
  limit: number
  cursor?: string | undefined
}

/**
 * A page of the bank's accounts, oldest first; empty for an unknown owner.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listSandboxAccounts(
  { pool }: Pick<App, 'pool'>,
  { customer_id: externalId, merchant_id: merchantId, limit, cursor }: SandboxAccountsQuery,
): Promise<{ accounts: SandboxAccount[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  if (merchantId !== undefined && !isUuid(merchantId)) return { accounts: [], nextCursor: null }
  const found = await listAccountRows(pool, { externalId, merchantId, afterId, limit: limit + 1 })
  const { rows, nextCursor } = pageOf(found, limit, ({ id }) => id)
  return { accounts: rows.map(accountView), nextCursor }
}

export type AccountChange = {
  id: string
  actor: Actor
  status?: SandboxAccount['status'] | undefined
  /** A decimal string. */
  overdraft_limit?: string | undefined
}

/**
 * Sets the status or the overdraft limit of an account; an omitted member stays as it is.
 * @throws {DomainError} ACCOUNT_NOT_FOUND, OVERDRAFT_IN_USE
 */
export async function setSandboxAccount(app: App, { id, actor, ...change }: AccountChange): Promise<SandboxAccount> {
  return app.pool.transaction(async (tx) => {
    const account = isUuid(id) ? await lockAccount(tx, id) : null
    if (account === null) throw new DomainError('ACCOUNT_NOT_FOUND', 'account not found at the bank')
    const { currency } = account
    const status = change.status ?? account.status
    const limit = change.overdraft_limit
    const overdraftMinor = limit === undefined ? account.overdraft_limit_minor : parseBalance(limit, currency)
    if (account.balance_minor < -overdraftMinor) throw overdraftInUse(fromMinorUnits(-account.balance_minor, currency))
    await updateAccount(tx, { id, status, overdraftMinor })
    const after = accountView({ ...account, status, overdraft_limit_minor: overdraftMinor })
    await recordAction(app, tx, {
      actor,
      action: 'sandbox.set_account',
      merchantId: account.merchant_id,
      subjectId: id,
      before: settingsOf(accountView(account)),
      after: settingsOf(after),
    })
    return after
  })
}

function settingsOf({ status, overdraft_limit }: SandboxAccount) {
  return { status, overdraft_limit }
}

function overdraftInUse(used: string): DomainError {
  return new DomainError('OVERDRAFT_IN_USE', `the account is overdrawn by ${used}, which is more than the new limit`, {
    next: `give it a limit of ${used} or more, or pay something in first`,
  })
}
