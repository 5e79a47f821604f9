import type { CommonQueryMethods } from 'slonik'
import { findByNumber } from '../accounts/find-by-number.ts'
import { isOurs } from '../accounts/our-bank.ts'
import type { AccountRecord } from '../accounts/record.ts'
import type { Identification } from '../accounts/sql.ts'

/** An account of this bank, one at another bank, or a nonexistent number of this bank. */
export type Creditor = { at: 'us'; account: AccountRecord } | { at: 'another bank' } | { at: 'nowhere' }

/**
 * Finds the creditor account of a payment. An account with both kinds of number is found by either: a British IBAN ends
 * in the other one.
 */
export async function findCreditor(db: CommonQueryMethods, named: Identification): Promise<Creditor> {
  const account = await findByNumber(db, named)
  if (account !== null) return { at: 'us', account }
  return { at: isOurs(named.identification) ? 'nowhere' : 'another bank' }
}
