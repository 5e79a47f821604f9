import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { AccountRecord, AccountTransactionRecord } from './record.ts'
import { accountColumns } from './sql.ts'

/** Page `page`, counted from 1, of `pageSize` rows. */
export type Page = { page: number; pageSize: number }

const AccountCount = z.object({ account_count: z.bigint() })
const AccountRow = z.union([
  AccountRecord.extend(AccountCount.shape),
  // The only row of an empty page.
  AccountCount.extend({ id: z.null() }),
])

/** A page of a customer's accounts, the oldest first, each row with their total count; at least one row. */
export function listAccountRows(
  tx: CommonQueryMethods,
  { customerId, page, pageSize }: Page & { customerId: string },
): Promise<readonly z.infer<typeof AccountRow>[]> {
  return tx.many(sql.prepared('list_accounts', AccountRow)`
    select c.account_count, ${accountColumns}
    from (select count(*) as account_count from accounts where customer_id = ${customerId}) c
    left join (
      select id
      from accounts
      where customer_id = ${customerId}
      order by created_at, id
      offset ${(page - 1) * pageSize}::bigint
      limit ${pageSize}
    ) p on true
    left join accounts a on a.customer_id = ${customerId} and a.id = p.id
    order by a.created_at, a.id
  `)
}

const NumberRange = z.object({ first_number: z.bigint(), last_number: z.bigint() })
const TransactionRow = z.union([
  AccountTransactionRecord.extend(NumberRange.shape),
  // The only row of an empty page.
  NumberRange.extend({ number: z.null() }),
])

/**
 * A page of the transactions booked on a customer's account between two times, the newest first, each row with the range
 * of numbers of all of them. An account has at least one row, an unknown one none. Numbers grow with the time of booking
 * and have no gaps, so two look-ups by time give the range, and a late page costs no more than the first.
 *
 * The times are in a CTE to hide them from the planner: it would make a new plan for each pair of them, and planning takes
 * longer than reading.
 */
export function listTransactionRows(
  tx: CommonQueryMethods,
  page: Page & { customerId: string; accountId: string; from: string; to: string },
): Promise<readonly z.infer<typeof TransactionRow>[]> {
  const { customerId, accountId, from, to, pageSize } = page
  const after = (page.page - 1) * pageSize
  return tx.any(sql.prepared('list_account_transactions', TransactionRow)`
    with asked as materialized (
      select ${from}::timestamptz as since, ${to}::timestamptz as until
    ),
    account as materialized (
      select
        a.id, a.currency,
        coalesce((
          select t.number
          from transactions t
          where t.account_id = a.id and t.booking_date_time >= q.since
          order by t.booking_date_time, t.number
          limit 1
        ), a.transaction_count + 1) as first_number,
        coalesce((
          select t.number
          from transactions t
          where t.account_id = a.id and t.booking_date_time <= q.until
          order by t.booking_date_time desc, t.number desc
          limit 1
        ), 0) as last_number
      from asked q
      cross join accounts a
      where a.customer_id = ${customerId} and a.id = ${accountId}
    )
    select
      a.id as account_id, a.currency, a.first_number, a.last_number, t.number, t.amount_minor, t.credit_debit_indicator,
      t.status, t.booking_date_time, t.balance_minor, t.counterparty_name, t.reference
    from account a
    left join transactions t
      on t.account_id = a.id
      and t.number between greatest(a.first_number, a.last_number - ${after + pageSize}::bigint + 1)
        and a.last_number - ${after}::bigint
    order by t.number desc
  `)
}
