import type { CommonQueryMethods } from 'slonik'
import { accountNumber } from './account-number.ts'
import { insertAccount } from './open-account-sql.ts'
import type { NewAccountRow } from './open-account-sql.ts'

/** So many collisions in a row happen only when the bank is full. */
const ATTEMPTS_MAX = 20

/**
 * Opens an empty account with the first free number.
 * @param randomNumber returns a random number of eight digits for each attempt
 */
export async function openAccount(
  tx: CommonQueryMethods,
  account: Omit<NewAccountRow, 'sortCodeAccountNumber' | 'iban'>,
  randomNumber: (attempt: number) => number,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1)
    if (await insertAccount(tx, { ...account, ...accountNumber(randomNumber(attempt)) })) return
  throw new Error(`no free number was found for an account in ${ATTEMPTS_MAX} attempts`)
}
