import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { during, entries, merchantsIn } from './scope-sql.ts'
import type { Check } from './scope-sql.ts'

/** The operator's action of a correction: one by one, because corrections are few and actions are not. */
function actionOf(id: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    left join lateral (
      select (a.after->>'amount')::numeric as amount, a.after->>'currency' as currency,
        a.after->>'booked_against' as booked_against
      from operator_actions a
      where a.merchant_id = m.id and a.action = 'balance.correct' and a.subject_id = ${id}::text
      limit 1
    ) a on true
  `
}

/** Movements that no payment, refund or payout explains: an operator must have made each correction, and each hold. */
export const CORRECTION_CHECKS = {
  CORRECTION_LEDGER: {
    cause: 'the correction was changed, or its entry of the ledger was changed or removed',
    query: (scope) => sql.fragment`
      select c.merchant_id, c.id::text as subject, null::uuid as payment_id, c.currency, c.amount as expected,
        e.added as found
      from ${merchantsIn(scope)} m
      join corrections c on c.merchant_id = m.id and ${during(sql.fragment`c.created_at`, scope)}
      left join lateral (
        select e.currency, case when e.credit = 'clearing' then e.amount else -e.amount end as added,
          case when e.credit = 'clearing' then e.debit else e.credit end as booked_against
        from ledger_entries e
        where e.merchant_id = c.merchant_id and e.subject_id = c.id and e.movement = 'correction'
      ) e on true
      where (c.amount, c.currency, c.booked_against) is distinct from (e.added, e.currency, e.booked_against)
    `,
  },
  CORRECTION_WITHOUT_ACTION: {
    cause: 'the audit trail has no such correction: it was posted or changed by hand',
    query: (scope) => sql.fragment`
      select e.merchant_id, e.subject_id::text as subject, null::uuid as payment_id, e.currency, a.amount as expected,
        case when e.credit = 'clearing' then e.amount else -e.amount end as found
      from ${entries(scope, ['correction'])}
      ${actionOf(sql.fragment`e.subject_id`)}
      where (a.amount, a.currency, a.booked_against) is distinct from (
        case when e.credit = 'clearing' then e.amount else -e.amount end, e.currency::text,
        case when e.credit = 'clearing' then e.debit else e.credit end::text
      )
    `,
  },
  HOLD_WITHOUT_ACTION: {
    cause: 'the audit trail has no such hold or release: the balance was moved, or the merchant changed, by hand',
    query: (scope) => sql.fragment`
      select e.merchant_id, e.ordinal::text as subject, null::uuid as payment_id, e.currency, null::numeric as expected,
        e.amount as found
      from ${entries(scope, ['balance_held', 'balance_released'])}
      where not exists (
        select from operator_actions a
        where a.merchant_id = e.merchant_id and a.action = 'merchant.hold' and a.created_at = e.created_at
          and (a.after->>'payout_held')::boolean = (e.movement = 'balance_held')
      )
    `,
  },
  HELD_BALANCE: {
    cause: 'the payouts of the merchant are not held, and its balance is: the merchant was changed by hand',
    isWholeOnly: true,
    query: (scope) => sql.fragment`
      select b.merchant_id, o.id::text as subject, null::uuid as payment_id, b.currency, 0.0000 as expected,
        b.balance as found
      from ${merchantsIn(scope)} m
      join merchants o on o.id = m.id and not o.payout_held
      join ledger_balances b on b.merchant_id = o.id and b.account = 'held' and b.balance <> 0
    `,
  },
} as const satisfies Record<string, Check>
