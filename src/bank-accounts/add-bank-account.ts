import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import type { BankAccount } from '../wire/bank-accounts.ts'
import { checkAccount } from './check-account.ts'
import type { AccountNumbers, AccountNumbersInput } from './check-account.ts'
import { auditedAccount, maskedAccount, openNumbers, sealNumbers } from './numbers.ts'
import { insertBankAccount, listActiveRows, lockBankAccounts } from './sql.ts'

/** The maximum number of active accounts of a merchant. */
const ACTIVE_MAX = 20

export type AddBankAccountInput = AccountNumbersInput & {
  account_holder_name: string
  merchantId: string
  actor: Actor
}

/**
 * Adds a payout account. Its numbers are sealed before they reach the database.
 * @throws {DomainError} VALIDATION_FAILED, also for an account that is already active; BANK_ACCOUNT_LIMIT_REACHED
 */
export async function addBankAccount(
  app: Pick<App, 'pool' | 'sealer' | 'ids'>,
  input: AddBankAccountInput,
): Promise<BankAccount> {
  const { merchantId, actor } = input
  const numbers = checkAccount(input)
  const key = { merchantId, id: app.ids.uuid() }
  const sealed = sealNumbers(app, key, numbers)
  return app.pool.transaction(async (tx) => {
    await lockBankAccounts(tx, merchantId)
    const active = await listActiveRows(tx, merchantId)
    // Compared in memory: a stored fingerprint would reveal to anyone with a database dump which merchants share an
    // account.
    if (active.some((row) => isSame(openNumbers(app, row), numbers))) throw duplicateAccount()
    if (active.length >= ACTIVE_MAX) throw limitReached()
    const row = await insertBankAccount(tx, { ...key, ...sealed, holderName: input.account_holder_name })
    const account = maskedAccount(app, row)
    const after = auditedAccount(account)
    await recordAction(app, tx, { actor, action: 'bank_account.add', merchantId, subjectId: key.id, after })
    return account
  })
}

function isSame(one: AccountNumbers, other: AccountNumbers): boolean {
  return one.sortCode === other.sortCode && one.accountNumber === other.accountNumber
}

function duplicateAccount(): DomainError {
  return invalidField('account_number', 'ALREADY_THERE', 'this account is already active')
}

function limitReached(): DomainError {
  return new DomainError(
    'BANK_ACCOUNT_LIMIT_REACHED',
    `a merchant can have at most ${ACTIVE_MAX} active bank accounts`,
    {
      next: 'disable an account that is no longer needed',
    },
  )
}
