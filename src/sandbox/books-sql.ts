import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { BookTotalsRecord } from './record.ts'

/**
 * The totals of every currency in which the bank has accounts. One statement sees one snapshot of all tables, so a
 * transfer is in all of its sums or in none. It reads every transaction, so a bank with too many of them runs into the
 * statement timeout.
 */
export function sumBooks(tx: CommonQueryMethods): Promise<readonly BookTotalsRecord[]> {
  return tx.any(sql.type(BookTotalsRecord)`
    with booked as (
      select t.account_id, count(*) as count,
        sum(case t.credit_debit_indicator when 'Credit' then t.amount_minor else -t.amount_minor end) as balance
      from transactions t
      group by t.account_id
    ), held as (
      select a.currency, count(*) as accounts, sum(a.balance_minor) as balance,
        count(*) filter (
          where a.balance_minor <> coalesce(b.balance, 0)
            or a.transaction_count <> coalesce(b.count, 0)
            or a.balance_minor <> coalesce(last.balance_minor, 0)
            or a.balance_minor < -a.overdraft_limit_minor
        ) as wrong
      from accounts a
      left join booked b on b.account_id = a.id
      left join transactions last on last.account_id = a.id and last.number = a.transaction_count
      group by a.currency
    ), moved as (
      select t.currency, count(*) as transfers,
        sum(t.amount_minor) filter (where t.debtor_account_id is null) as came_in,
        sum(t.amount_minor) filter (where t.creditor_account_id is null) as went_out
      from transfers t
      group by t.currency
    )
    select h.currency, h.accounts::int as accounts, coalesce(m.transfers, 0)::int as transfers,
      h.balance::bigint as balance, coalesce(m.came_in, 0)::bigint as came_in,
      coalesce(m.went_out, 0)::bigint as went_out, h.wrong::int as wrong_accounts, iso_text(now()) as checked_at
    from held h
    left join moved m using (currency)
    order by h.currency
  `)
}
