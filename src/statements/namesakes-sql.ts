import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/**
 * Counts of lines that name the id of a line `l` with its amount and are no movement here, `l` among them: open, or explained
 * by a reason alone. Money that has left and come back under one id belongs to no merchant. `is_uneven`: of several amounts some came
 * back, and `stayed_away` is what did not.
 */
export const namesakes = sql.fragment`(
  select count(*) filter (where n.direction = 'DEBIT' and n.amount = l.amount) as debits,
    count(*) filter (where n.direction = 'CREDIT' and n.amount = l.amount) as credits,
    count(*) filter (where n.direction <> l.direction and n.amount = l.amount and n.matched_by is not null) as explained,
    bool_or(n.direction = 'CREDIT') and min(n.amount) <> max(n.amount) as is_uneven,
    sum(case n.direction when 'DEBIT' then n.amount else -n.amount end) as stayed_away
  from bank_statement_lines n
  where n.named_id = l.named_id and n.merchant_id is null and n.currency = l.currency
) same`

/** The command that explains a line `l`, without what names its movement. */
export const resolveCommand = sql.fragment`'svc statements resolve ' || l.id`

/** The command by which an OWNER adds the amount of a line `l` to a merchant's balance, or takes it. */
export function correctCommand(merchantId: FragmentSqlToken, sign: '' | '-'): FragmentSqlToken {
  return sql.fragment`format(
    'svc merchants correct %s --amount=%s%s --currency %s --against BANK', ${merchantId}, ${sign}::text, round(l.amount, 2), l.currency
  )`
}

/**
 * So many times the amount of a line `l`. Where there are more lines than a pair, each says what all of them come to: they
 * are explained one after the other, and what was corrected for one must not be corrected for the next.
 */
export function inAll(count: FragmentSqlToken): FragmentSqlToken {
  return sumInAll(sql.fragment`l.amount * (${count})`)
}

/** The same of an amount. */
export function sumInAll(amount: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`format(
    '%s %s in all, what was corrected before included', round(greatest(${amount}, 0), 2), l.currency
  )`
}
