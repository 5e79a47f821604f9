import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import type { AccountNumber } from './account-number.ts'

export type NewAccountRow = AccountNumber & {
  id: string
  customerId: string
  currency: string
  type: string
  subType: string
  name: string
  nickname: string | null
  overdraftMinor: bigint
  createdAt?: string
}

/** @returns whether its number was free. The creation time determines the order of listings. */
export async function insertAccount(tx: CommonQueryMethods, account: NewAccountRow): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.typeAlias('id')`
    insert into accounts (
      id, customer_id, currency, account_type, account_sub_type, name, nickname, sort_code_account_number, iban,
      overdraft_limit_minor, created_at
    )
    values (
      ${account.id}, ${account.customerId}, ${account.currency}, ${account.type}, ${account.subType}, left(${account.name}, 140),
      ${account.nickname}, ${account.sortCodeAccountNumber}, ${account.iban}, ${account.overdraftMinor},
      coalesce(${account.createdAt ?? null}::timestamptz, clock_timestamp())
    )
    on conflict do nothing
    returning id
  `)
  return inserted !== null
}
