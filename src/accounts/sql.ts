import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { SORT_CODE_ACCOUNT_NUMBER } from '../lib/account-identification.ts'
import type { SchemeName } from '../lib/account-identification.ts'
import { AccountRecord } from './record.ts'

export const accountColumns = sql.fragment`
  a.id, a.customer_id, a.currency, a.account_type, a.account_sub_type, a.name, a.nickname, a.sort_code_account_number,
  a.iban, a.status, a.balance_minor, a.overdraft_limit_minor, a.transaction_count
`

/** An account of this customer. */
export function findAccount(
  tx: CommonQueryMethods,
  { customerId, id }: { customerId: string; id: string },
): Promise<AccountRecord | null> {
  return tx.maybeOne(sql.prepared('find_account', AccountRecord)`
    select ${accountColumns} from accounts a where a.customer_id = ${customerId} and a.id = ${id}
  `)
}

/** The first usable account of a customer in this currency, in listing order; if none is usable, the first one. */
export function findFirstAccount(
  tx: CommonQueryMethods,
  { customerId, currency }: { customerId: string; currency: string },
): Promise<AccountRecord | null> {
  return tx.maybeOne(sql.prepared('find_first_account', AccountRecord)`
    select ${accountColumns}
    from accounts a
    where a.customer_id = ${customerId} and a.currency = ${currency}
    order by a.status = 'Enabled' desc, a.created_at, a.id
    limit 1
  `)
}

export type Identification = { scheme: SchemeName; identification: string }

/** The account with this number, of any customer; null for numbers of other banks. */
export function findAccountByNumber(
  tx: CommonQueryMethods,
  { scheme, identification }: Identification,
): Promise<AccountRecord | null> {
  return scheme === SORT_CODE_ACCOUNT_NUMBER
    ? tx.maybeOne(sql.prepared('find_account_by_number', AccountRecord)`
        select ${accountColumns} from accounts a where a.sort_code_account_number = ${identification}
      `)
    : tx.maybeOne(sql.prepared('find_account_by_iban', AccountRecord)`
        select ${accountColumns} from accounts a where a.iban = ${identification}
      `)
}
