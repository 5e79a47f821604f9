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
  // Of a page without rows.
  AccountCount.extend({ id: z.null() }),
])

/** A page of a customer's accounts, the oldest first, each row with how many there are; at least one row. */
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
  // Of a page without rows.
  NumberRange.extend({ number: z.null() }),
])

/**
 * A page of what was booked on a customer's account between two moments, the newest first, each row with the range of all
 * that was; at least one row where there is the account, none where there is not. Numbers grow with the time of booking
 * and have no gaps: two look-ups by time give the range, and the page is a part of it, however far down it lies.
 *
 * The moments stand in a table of their own to hide them from the planner: it would take a plan for each of them to be
 * cheaper than one for all, and planning takes longer than the reading.
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
