import type { CommonQueryMethods } from 'slonik'
import { invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { AccountIdentification } from '../wire/open-banking.ts'
import { findByNumber } from './find-by-number.ts'
import type { AccountRecord } from './record.ts'
import { findAccount, findFirstAccount } from './sql.ts'

/** Selects one of a customer's accounts: by its number, by its AccountId, or the first one in the currency. */
export type AccountChoice = {
  customerId: string
  currency: string
  number?: AccountIdentification | undefined
  accountId?: string | undefined
}

/**
 * One of the customer's own accounts in this currency (decision 59). Another customer's account is treated as unknown.
 * @throws {DomainError} VALIDATION_FAILED at `DebtorAccount.Identification`, `AccountId` or `InstructedAmount.Currency`
 */
export async function chooseAccount(db: CommonQueryMethods, choice: AccountChoice): Promise<AccountRecord> {
  const { customerId, currency, number, accountId } = choice
  if (number === undefined && accountId === undefined) {
    const first = await firstAccount(db, { customerId, currency })
    if ('account' in first) return first.account
    throw invalidField('InstructedAmount.Currency', 'INVALID', first.problem)
  }
  const path = number === undefined ? 'AccountId' : 'DebtorAccount.Identification'
  const account = await findNamed(db, { customerId, number, accountId })
  if (account === null)
    throw invalidField(path, 'INVALID', 'is not one of your accounts: GET /open-banking/v1/accounts lists them')
  if (account.currency !== currency)
    throw invalidField(path, 'INVALID', `is in ${account.currency}, but the amount is in ${currency}`)
  return account
}

/**
 * The customer's first account in this currency that is neither blocked nor closed, or the problem if there is none.
 */
export async function firstAccount(
  db: CommonQueryMethods,
  { customerId, currency }: { customerId: string; currency: string },
): Promise<{ account: AccountRecord } | { problem: string }> {
  const account = await findFirstAccount(db, { customerId, currency })
  if (account === null) return { problem: `you have no account in ${currency}` }
  if (account.status === 'Enabled') return { account }
  return { problem: `you have no usable account in ${currency}: each is blocked or closed` }
}

async function findNamed(
  db: CommonQueryMethods,
  { customerId, number, accountId }: Pick<AccountChoice, 'customerId' | 'number' | 'accountId'>,
): Promise<AccountRecord | null> {
  if (number === undefined) {
    return accountId !== undefined && isUuid(accountId) ? findAccount(db, { customerId, id: accountId }) : null
  }
  const found = await findByNumber(db, { scheme: number.SchemeName, identification: number.Identification })
  return found?.customer_id === customerId ? found : null
}
