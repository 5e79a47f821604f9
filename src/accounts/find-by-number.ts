import type { CommonQueryMethods } from 'slonik'
import { SORT_CODE_ACCOUNT_NUMBER } from '../lib/account-identification.ts'
import { ukNumberOf } from './our-bank.ts'
import type { AccountRecord } from './record.ts'
import { findAccountByNumber } from './sql.ts'
import type { Identification } from './sql.ts'

/**
 * The account of this bank with a number, of any customer; null if there is none. A British IBAN of this bank also
 * finds the account by the sort code and account number that it ends in.
 */
export async function findByNumber(db: CommonQueryMethods, named: Identification): Promise<AccountRecord | null> {
  const account = await findAccountByNumber(db, named)
  const number = ukNumberOf(named.identification)
  if (account !== null || number === undefined) return account
  return findAccountByNumber(db, { scheme: SORT_CODE_ACCOUNT_NUMBER, identification: number })
}
