import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { among, during, merchantsIn } from './scope-sql.ts'
import type { Check, Scope } from './scope-sql.ts'

/** Settlements `s` that were closed in the time. */
function settlements(scope: Scope): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    join settlements s on s.merchant_id = m.id and ${during(sql.fragment`s.closed_at`, scope)}
  `
}

/** The payment that a row is about, if any: looked up for the differences alone. */
function paymentOf(row: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(
    select p.id from payment_intents p where p.merchant_id = ${row}.merchant_id and p.id = ${row}.subject_id
  )`
}

/** What settlements can disagree with: their lines, the ledger, and each other. */
export const SETTLEMENT_CHECKS = {
  SETTLEMENT_LINE: {
    cause: 'the line of the settlement was changed or removed, or its entry of the ledger was',
    query: (scope) => sql.fragment`
      select e.merchant_id, e.ordinal::text as subject, ${paymentOf(sql.fragment`e`)} as payment_id, e.currency,
        e.added as expected, l.amount as found
      from (
        select e.*, case when e.credit = 'clearing' then e.amount else -e.amount end as added
        from ${merchantsIn(scope)} m
        join ledger_entries e on e.merchant_id = m.id and ${during(sql.fragment`e.created_at`, scope)}
        where 'clearing' in (e.debit, e.credit) and e.movement <> 'settlement_closed'
      ) e
      left join settlement_lines l on l.merchant_id = e.merchant_id and l.ordinal = e.ordinal
      where (l.amount, l.currency, l.movement, l.subject_id) is distinct from (e.added, e.currency, e.movement, e.subject_id)
        -- The job that keeps balances makes the lines.
        and (l.ordinal is not null or not exists (select from ledger_unfolded u where u.ordinal = e.ordinal))
    `,
  },
  SETTLEMENT_LINE_WITHOUT_ENTRY: {
    cause: 'the ledger has no such entry: it was removed, or the line was made by hand',
    isWholeOnly: true,
    query: (scope) => sql.fragment`
      select l.merchant_id, l.ordinal::text as subject, ${paymentOf(sql.fragment`l`)} as payment_id, l.currency,
        null::numeric as expected, l.amount as found
      from ${merchantsIn(scope)} m
      join settlement_lines l on l.merchant_id = m.id and ${among(sql.fragment`l.ordinal`, scope)}
      where not exists (
        select from ledger_entries e
        where e.ordinal = l.ordinal and e.merchant_id = l.merchant_id and ${among(sql.fragment`e.ordinal`, scope)}
      )
    `,
  },
  SETTLEMENT_TOTAL: {
    cause: 'an amount of the settlement was changed, or one of its lines was changed, added or removed',
    query: (scope) => sql.fragment`
      select s.merchant_id, s.id::text as subject, null::uuid as payment_id, s.currency, total.expected, total.found
      from ${settlements(scope)}
      cross join lateral (
        select coalesce(sum(l.amount) filter (where l.movement = 'payment_settled'), 0) as gross,
          coalesce(-sum(l.amount) filter (where l.movement = 'fee_taken'), 0) as fees,
          coalesce(-sum(l.amount) filter (where l.movement in ('payment_refunded', 'dispute_refunded')), 0) as refunded,
          coalesce(sum(l.amount) filter (where l.movement = 'correction'), 0) as corrected,
          coalesce(sum(l.amount) filter (where l.movement in ('debt_deducted', 'debt_restored')), 0) as deducted,
          coalesce(sum(l.amount) filter (where l.movement in ('rounded_up', 'rounded_down')), 0) as rounding,
          coalesce(sum(l.amount), 0) as whole
        from settlement_lines l
        where l.merchant_id = s.merchant_id and l.settlement_id = s.id and l.currency = s.currency
      ) line
      cross join lateral (
        values (line.gross, s.gross_amount), (line.fees, s.fee_amount), (line.refunded, s.refunded_amount),
          (line.corrected, s.corrected_amount), (line.deducted, s.deducted_amount), (line.rounding, s.rounding_amount),
          (s.opening_balance + line.whole, s.net_amount)
      ) total (expected, found)
      where total.expected <> total.found
    `,
  },
  LINE_WITHOUT_SETTLEMENT: {
    cause: 'the settlement of these lines was removed, or the lines were assigned by hand',
    isWholeOnly: true,
    query: (scope) => sql.fragment`
      select m.id as merchant_id, each.id::text as subject, null::uuid as payment_id, line.currency,
        null::numeric as expected, line.amount as found
      from ${merchantsIn(scope)} m
      -- One search of the index for each settlement, and not one for each line.
      cross join lateral (
        with recursive named (id) as (
          (
            select l.settlement_id from settlement_lines l
            where l.merchant_id = m.id and l.settlement_id is not null
            order by l.settlement_id
            limit 1
          )
          union all
          select (
            select l.settlement_id from settlement_lines l
            where l.merchant_id = m.id and l.settlement_id > named.id
            order by l.settlement_id
            limit 1
          )
          from named
          where named.id is not null
        )
        select named.id from named
        where named.id is not null
          and not exists (select from settlements s where s.merchant_id = m.id and s.id = named.id)
      ) each
      cross join lateral (
        select min(l.currency) as currency, sum(l.amount) as amount from settlement_lines l
        where l.merchant_id = m.id and l.settlement_id = each.id
      ) line
    `,
  },
  SETTLEMENT_LEDGER: {
    cause: 'the amount that the settlement made payable was changed, or its entry of the ledger was changed or removed',
    query: (scope) => sql.fragment`
      select s.merchant_id, s.id::text as subject, null::uuid as payment_id, s.currency,
        nullif(s.payable_amount, 0) as expected, e.amount as found
      from ${settlements(scope)}
      left join ledger_entries e
        on e.merchant_id = s.merchant_id and e.subject_id = s.id and e.movement = 'settlement_closed'
      where nullif(s.payable_amount, 0) is distinct from e.amount or e.currency <> s.currency
      union all
      select e.merchant_id, e.subject_id::text, null, e.currency, null, e.amount
      from ${merchantsIn(scope)} m
      join ledger_entries e on e.merchant_id = m.id and ${during(sql.fragment`e.created_at`, scope)}
      where e.movement = 'settlement_closed'
        and not exists (select from settlements s where s.merchant_id = e.merchant_id and s.id = e.subject_id)
    `,
  },
  SETTLEMENT_OPENING: {
    cause: 'the settlement does not open with what the one before could not pay: one of the two was changed or removed',
    query: (scope) => sql.fragment`
      select s.merchant_id, s.id::text as subject, null::uuid as payment_id, s.currency, before.left_over as expected,
        s.opening_balance as found
      from ${settlements(scope)}
      cross join lateral (
        select coalesce(sum(b.net_amount - b.payable_amount), 0) as left_over
        from (
          select b.net_amount, b.payable_amount from settlements b
          where b.merchant_id = s.merchant_id and b.currency = s.currency and b.period_to < s.period_to
          order by b.period_to desc
          limit 1
        ) b
      ) before
      where before.left_over <> s.opening_balance
    `,
  },
} as const satisfies Record<string, Check>
