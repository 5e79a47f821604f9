import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { BankAccountRecord } from './record.ts'

export const bankAccountColumns = sql.fragment`
  id, merchant_id, account_holder_name, encrypted_account_number, encrypted_sort_code, encrypted_iban, is_active,
  created_at, disabled_at
`

export type BankAccountKey = { merchantId: string; id: string }

/** Active accounts first, the newest first among each. */
export function listBankAccountRows(
  tx: CommonQueryMethods,
  merchantId: string,
  rowsMax: number,
): Promise<readonly BankAccountRecord[]> {
  return tx.any(sql.type(BankAccountRecord)`
    select ${bankAccountColumns}
    from merchant_bank_accounts
    where merchant_id = ${merchantId}
    order by is_active desc, created_at desc, id desc
    limit ${rowsMax}
  `)
}

export function listActiveRows(tx: CommonQueryMethods, merchantId: string): Promise<readonly BankAccountRecord[]> {
  return tx.any(sql.type(BankAccountRecord)`
    select ${bankAccountColumns} from merchant_bank_accounts where merchant_id = ${merchantId} and is_active
  `)
}

export function findBankAccount(
  tx: CommonQueryMethods,
  { merchantId, id }: BankAccountKey,
): Promise<BankAccountRecord | null> {
  return tx.maybeOne(sql.type(BankAccountRecord)`
    select ${bankAccountColumns} from merchant_bank_accounts where merchant_id = ${merchantId} and id = ${id}
  `)
}

/** Serialises additions for a merchant, so that the limit holds and no account is added twice. */
export async function lockBankAccounts(tx: CommonQueryMethods, merchantId: string): Promise<void> {
  await tx.query(sql.type(z.object({ locked: z.unknown() }))`
    select pg_advisory_xact_lock(hashtextextended(${`bank accounts ${merchantId}`}, 0)) as locked
  `)
}

export type NewBankAccount = BankAccountKey & {
  holderName: string
  /** Sealed, like the next two. */
  accountNumber: string
  sortCode: string
  iban: string | null
}

export function insertBankAccount(tx: CommonQueryMethods, account: NewBankAccount): Promise<BankAccountRecord> {
  return tx.one(sql.type(BankAccountRecord)`
    insert into merchant_bank_accounts (
      id, merchant_id, account_holder_name, encrypted_account_number, encrypted_sort_code, encrypted_iban
    )
    values (
      ${account.id}, ${account.merchantId}, ${account.holderName}, ${account.accountNumber}, ${account.sortCode},
      ${account.iban}
    )
    returning ${bankAccountColumns}
  `)
}

/** Null if it is already disabled or does not exist. */
export function disableBankAccountRow(
  tx: CommonQueryMethods,
  { merchantId, id }: BankAccountKey,
): Promise<BankAccountRecord | null> {
  return tx.maybeOne(sql.type(BankAccountRecord)`
    update merchant_bank_accounts
    set is_active = false, disabled_at = now()
    where merchant_id = ${merchantId} and id = ${id} and is_active
    returning ${bankAccountColumns}
  `)
}
