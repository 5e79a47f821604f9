import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { BankAccount } from '../wire/bank-accounts.ts'
import { auditedAccount, maskedAccount } from './numbers.ts'
import { disableBankAccountRow, findBankAccount } from './sql.ts'
import type { BankAccountKey } from './sql.ts'

/**
 * Disables a payout account; it stays listed. Repeating it changes nothing.
 * @throws {DomainError} BANK_ACCOUNT_NOT_FOUND, also for another merchant's account
 */
export async function disableBankAccount(
  app: Pick<App, 'pool' | 'sealer' | 'ids'>,
  { actor, ...key }: BankAccountKey & { actor: Actor },
): Promise<BankAccount> {
  if (!isUuid(key.id)) throw notFound()
  return app.pool.transaction(async (tx) => {
    const disabled = await disableBankAccountRow(tx, key)
    const row = disabled ?? (await findBankAccount(tx, key))
    if (row === null) throw notFound()
    const account = maskedAccount(app, row)
    if (disabled !== null) {
      const after = auditedAccount(account)
      const before = { ...after, is_active: true }
      const { merchantId, id: subjectId } = key
      await recordAction(app, tx, { actor, action: 'bank_account.disable', merchantId, subjectId, before, after })
    }
    return account
  })
}

function notFound(): DomainError {
  return new DomainError('BANK_ACCOUNT_NOT_FOUND', 'bank account not found')
}
