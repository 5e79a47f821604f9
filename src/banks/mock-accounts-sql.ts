import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { DEMO_CUSTOMER } from '../accounts/our-bank.ts'
import { sql } from '../db/sql.ts'

/** An account of this bank that can pay. */
export const PayingAccount = z.strictObject({
  id: z.string(),
  currency: z.string(),
  name: z.string(),
  /** The sort code and account number, or the IBAN of an account that has none. */
  number: z.string(),
  status: z.enum(['Enabled', 'Blocked', 'Closed']),
  /** Whether it is a settlement account, which the bank's page does not offer. */
  of_merchant: z.boolean(),
})
export type PayingAccount = z.infer<typeof PayingAccount>

const columns = sql.fragment`
  a.id, a.currency, a.name, coalesce(a.sort_code_account_number, a.iban) as number, a.status,
  c.merchant_id is not null as of_merchant
`
const tables = sql.fragment`accounts a join customers c on c.id = a.customer_id`

export function findPayingAccount(tx: CommonQueryMethods, id: string): Promise<PayingAccount | null> {
  return tx.maybeOne(sql.type(PayingAccount)`select ${columns} from ${tables} where a.id = ${id}`)
}

export function listPayingAccounts(
  tx: CommonQueryMethods,
  { currency, limit }: { currency: string; limit: number },
): Promise<readonly PayingAccount[]> {
  const canPay = sql.fragment`a.currency = ${currency} and a.status = 'Enabled' and c.merchant_id is null`
  return tx.any(sql.type(PayingAccount)`
    select ${columns}
    from ${tables}
    where a.id in (
      (select a.id from ${tables} where ${canPay} and c.external_customer_id = ${DEMO_CUSTOMER})
      union
      (select a.id from ${tables} where ${canPay} order by a.customer_id, a.id limit ${limit})
    )
    order by c.external_customer_id <> ${DEMO_CUSTOMER}, lower(a.name), a.id
    limit ${limit}
  `)
}
