import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Difference } from '../wire/reconciliation.ts'
import { DifferenceRecord, TotalRecord } from './record.ts'
import { BANK_CHECKS } from './bank-sql.ts'
import { CORRECTION_CHECKS } from './correction-sql.ts'
import { PAYOUT_CHECKS } from './payout-sql.ts'
import { entries, executedRefunds, merchantsIn, settledPayments } from './scope-sql.ts'
import type { Check, EntrySum, Scope } from './scope-sql.ts'
import { SETTLEMENT_CHECKS } from './settlement-sql.ts'
import { STATEMENT_CHECKS } from './statement-sql.ts'

export type { Scope } from './scope-sql.ts'

/**
 * One snapshot for all checks: a payment that settles between two of them would be a difference. Without parallel workers,
 * which for some thousand rows take longer to start than to work, and would take processors from payments.
 */
export async function readSnapshot(tx: DatabaseTransactionConnection): Promise<void> {
  await tx.query(sql.typeAlias('void')`set transaction isolation level repeatable read read only`)
  await tx.query(sql.typeAlias('void')`set local max_parallel_workers_per_gather = 0`)
}

/**
 * Whether the next checks find rows one by one, through their keys. Those of a window do: a hash join would read whole
 * tables for it, which makes all of a million payments take four times as long.
 */
export async function findByKey(tx: DatabaseTransactionConnection, byKey: boolean): Promise<void> {
  const joins = byKey ? 'off' : 'on'
  await tx.query(sql.type(Joins)`
    select set_config('enable_hashjoin', ${joins}, true), set_config('enable_mergejoin', ${joins}, true)
  `)
}

const Joins = z.object({ set_config: z.string() })

const REFUND_MOVEMENTS = ['payment_refunded', 'dispute_refunded'] as const

/** What each payment that has settled should have in the ledger: an entry of one movement with one of its amounts. */
function postedBy(movement: string, amount: FragmentSqlToken): (scope: Scope) => FragmentSqlToken {
  return (scope) => sql.fragment`
    select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, nullif(${amount}, 0) as expected,
      e.amount as found
    from ${settledPayments(scope)}
    left join ledger_entries e
      on e.merchant_id = p.merchant_id and e.subject_id = p.id and e.movement = ${movement}::ledger_movement
    where nullif(${amount}, 0) is distinct from e.amount or e.currency <> p.currency
  `
}

/** @throws where they were not read: a ledger without entries has an empty list. */
function sumsOf({ sums }: Scope): readonly EntrySum[] {
  if (sums === undefined) throw new Error('the entries were not added up')
  return sums
}

/** Every check, by the kind of difference that it finds; each row that it returns is one. */
const CHECKS: Readonly<Record<Difference['kind'], Check>> = {
  PAYMENT_LEDGER: {
    cause: 'the amount of the payment was changed after it settled, or its entry is missing',
    query: postedBy('payment_settled', sql.fragment`p.gross_amount`),
  },
  FEE_LEDGER: {
    cause: 'the fee of the payment was changed after it settled, or its entry is missing',
    query: postedBy('fee_taken', sql.fragment`p.fee_amount`),
  },
  LEDGER_WITHOUT_PAYMENT: {
    cause: 'the ledger has an entry of a payment that has not settled: its event or its row was removed',
    query: (scope) => sql.fragment`
      select e.merchant_id, e.subject_id::text as subject, e.subject_id as payment_id, e.currency, null::numeric as expected,
        e.amount as found
      from ${entries(scope, ['payment_settled', 'fee_taken'])}
      -- Joins, because PostgreSQL reads whole tables for "not exists (…) or not exists (…)".
      left join payment_events v
        on v.merchant_id = e.merchant_id and v.payment_intent_id = e.subject_id and v.previous_status = 'Authorised'
          and v.new_status = 'Settled'
      left join payment_intents p
        on p.merchant_id = e.merchant_id and p.id = e.subject_id and p.status in ('Settled', 'Refunded')
      where v.id is null or p.id is null
    `,
  },
  REFUND_LEDGER: {
    cause: 'the amount of the refund was changed after it was executed, or its entry is missing',
    query: (scope) => sql.fragment`
      select r.merchant_id, r.id::text as subject, p.id as payment_id, p.currency, r.amount as expected, e.amount as found
      from ${executedRefunds(scope)}
      left join ledger_entries e
        on e.merchant_id = r.merchant_id and e.subject_id = r.id and e.movement = (
          case when r.dispute_id is null then 'payment_refunded' else 'dispute_refunded' end
        )::ledger_movement
      where r.amount is distinct from e.amount or e.currency <> p.currency
    `,
  },
  LEDGER_WITHOUT_REFUND: {
    cause: 'the ledger has an entry of a refund that was not executed: its row was changed or removed',
    query: (scope) => sql.fragment`
      select e.merchant_id, e.subject_id::text as subject, r.payment_intent_id as payment_id, e.currency,
        null::numeric as expected, e.amount as found
      from ${entries(scope, REFUND_MOVEMENTS)}
      -- One by one: a join reads all refunds of all time.
      left join lateral (
        select r.id, r.status, r.payment_intent_id from payment_refunds r
        where r.merchant_id = e.merchant_id and r.id = e.subject_id
        limit 1
      ) r on true
      where r.id is null or r.status <> 'EXECUTED'
    `,
  },
  REFUNDED_AMOUNT: {
    cause: 'the refunded or the reserved amount of the payment was changed, or one of its refunds was',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, amount.expected, amount.found
      from ${settledPayments(scope)}
      cross join lateral (
        select sum(r.amount) filter (where r.status = 'EXECUTED') as executed,
          sum(r.amount) filter (where r.status = 'PENDING') as pending
        from payment_refunds r
        where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id
      ) given
      cross join lateral (
        values (coalesce(given.executed, 0), p.refunded_amount), (coalesce(given.pending, 0), p.refund_reserved_amount)
      ) amount (expected, found)
      where amount.expected <> amount.found
    `,
  },
  LEDGER_BALANCE: {
    cause: 'a kept balance was changed, or an entry was changed or removed',
    isWholeOnly: true,
    query: (scope) => sql.fragment`
      select coalesce(c.merchant_id, k.merchant_id) as merchant_id,
        coalesce(c.account, k.account)::text as subject, null::uuid as payment_id,
        coalesce(c.currency, k.currency) as currency, coalesce(c.balance, 0) as expected, coalesce(k.balance, 0) as found
      from (
        select t.merchant_id, t.currency, s.account,
          sum(case when s.account = 'bank' then s.amount else -s.amount end) as balance
        from (
          select e.merchant_id, e.currency, e.debit, e.credit, sum(e.amount) as amount
          from json_to_recordset(${JSON.stringify(sumsOf(scope))}) as e (
            merchant_id uuid, currency char(3), debit ledger_account, credit ledger_account, amount numeric
          )
          group by e.merchant_id, e.currency, e.debit, e.credit
        ) t
        cross join lateral (values (t.debit, t.amount), (t.credit, -t.amount)) s (account, amount)
        group by t.merchant_id, t.currency, s.account
      ) c
      full join (select k.* from ledger_balances k join ${merchantsIn(scope)} m on m.id = k.merchant_id) k
        on k.merchant_id = c.merchant_id and k.currency = c.currency and k.account = c.account
      where coalesce(c.balance, 0) <> coalesce(k.balance, 0)
    `,
  },
  ...BANK_CHECKS,
  ...STATEMENT_CHECKS,
  ...SETTLEMENT_CHECKS,
  ...PAYOUT_CHECKS,
  ...CORRECTION_CHECKS,
}

export type CheckName = Difference['kind']
export const CHECK_NAMES: readonly CheckName[] = Object.freeze(Object.keys(CHECKS)) as readonly CheckName[]

/** The checks that a period limits, and those that need everything. */
export const PERIOD_CHECKS: readonly CheckName[] = Object.freeze(
  CHECK_NAMES.filter((name) => CHECKS[name].isWholeOnly !== true),
)
export const WHOLE_CHECKS: readonly CheckName[] = Object.freeze(
  CHECK_NAMES.filter((name) => CHECKS[name].isWholeOnly === true),
)

export function causeOf(name: CheckName): string {
  return CHECKS[name].cause
}

/** The differences that one check finds, the lowest subject first; none where it needs more than is compared. */
export function listDifferences(
  tx: CommonQueryMethods,
  { name, scope, limit }: { name: CheckName; scope: Scope; limit: number },
): Promise<readonly DifferenceRecord[]> {
  const { query, isWholeOnly, isOfAllOnly, hasOwnCause } = CHECKS[name]
  const isLeftOut =
    isWholeOnly === true ? scope.from !== undefined : isOfAllOnly === true && scope.merchantId !== undefined
  if (isLeftOut) return Promise.resolve([])
  return tx.any(sql.type(DifferenceRecord)`
    select f.merchant_id, (select trading_name from merchants where id = f.merchant_id) as trading_name, f.subject,
      f.payment_id, f.currency, f.expected, f.found, ${hasOwnCause === true ? sql.fragment`f.cause` : sql.fragment`null`} as cause,
      count(*) over ()::int4 as of_kind
    from (${query(scope)}) f
    order by f.merchant_id, f.currency, f.subject, f.found
    limit ${limit}
  `)
}

/** The sums of each merchant and currency, by the payments and by the ledger. */
export function listTotals(tx: CommonQueryMethods, scope: Scope): Promise<readonly TotalRecord[]> {
  return tx.any(sql.type(TotalRecord)`
    with paid as (
      select p.merchant_id, p.currency, sum(p.gross_amount) as settled, sum(p.fee_amount) as fees, 0::numeric as refunded,
        0::numeric as ledger_settled, 0::numeric as ledger_fees, 0::numeric as ledger_refunded
      from ${settledPayments(scope)}
      group by p.merchant_id, p.currency
    ),
    given as (
      select p.merchant_id, p.currency, 0::numeric, 0::numeric, sum(r.amount), 0::numeric, 0::numeric, 0::numeric
      from ${executedRefunds(scope)}
      group by p.merchant_id, p.currency
    ),
    posted as (
      select e.merchant_id, e.currency, 0::numeric, 0::numeric, 0::numeric,
        coalesce(sum(e.amount) filter (where e.movement = 'payment_settled'), 0),
        coalesce(sum(e.amount) filter (where e.movement = 'fee_taken'), 0),
        coalesce(sum(e.amount) filter (where e.movement in ('payment_refunded', 'dispute_refunded')), 0)
      from ${entries(scope, ['payment_settled', 'fee_taken', ...REFUND_MOVEMENTS])}
      group by e.merchant_id, e.currency
    )
    select merchant_id, m.trading_name, currency, sum(settled) as settled, sum(ledger_settled) as ledger_settled, sum(fees) as fees,
      sum(ledger_fees) as ledger_fees, sum(refunded) as refunded, sum(ledger_refunded) as ledger_refunded
    from (select * from paid union all select * from given union all select * from posted) each
    join merchants m on m.id = merchant_id
    group by merchant_id, m.trading_name, currency
    order by merchant_id, currency
  `)
}
