import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Difference } from '../wire/reconciliation.ts'
import { DifferenceRecord, TotalRecord } from './record.ts'
import { CORRECTION_CHECKS } from './correction-sql.ts'
import { PAYOUT_CHECKS } from './payout-sql.ts'
import { during, entries, merchantsIn } from './scope-sql.ts'
import type { Check, Scope } from './scope-sql.ts'
import { SETTLEMENT_CHECKS } from './settlement-sql.ts'

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

/** Payments `p` that have settled in the time: by their event, which says when. */
function settledPayments(scope: Scope): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    cross join lateral (
      select e.payment_intent_id from payment_events e
      where e.merchant_id = m.id and e.new_status = 'Settled' and ${during(sql.fragment`e.created_at`, scope)}
    ) event
    join payment_intents p on p.merchant_id = m.id and p.id = event.payment_intent_id
  `
}

/** Refunds `r` that were executed in the time, with their payments `p`. */
function executedRefunds(scope: Scope): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    join payment_refunds r on r.merchant_id = m.id and r.status = 'EXECUTED'
      and ${during(sql.fragment`r.updated_at`, scope)}
    join payment_intents p on p.merchant_id = m.id and p.id = r.payment_intent_id
  `
}

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
        on e.merchant_id = r.merchant_id and e.subject_id = r.id
          and e.movement in ('payment_refunded', 'dispute_refunded')
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
    cause: 'the refunded amount of the payment was changed, or one of its refunds was',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, coalesce(given.amount, 0) as expected,
        p.refunded_amount as found
      from ${settledPayments(scope)}
      cross join lateral (
        select sum(r.amount) as amount from payment_refunds r
        where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id and r.status = 'EXECUTED'
      ) given
      where p.refunded_amount <> coalesce(given.amount, 0)
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
          -- First by both accounts, so that each entry is added once: the view ledger_recount adds it seven times.
          select e.merchant_id, e.currency, e.debit, e.credit, sum(e.amount) as amount
          from ${merchantsIn(scope)} m
          join ledger_entries e on e.merchant_id = m.id
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
  BANK_DEBIT: {
    cause: 'the bank did not take this amount from the payer',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, p.gross_amount as expected,
        d.amount as found
      from ${settledPayments(scope)}
      left join mock_bank.bank_debits d on d.payment_id = p.id and d.currency = p.currency
      where p.bank_connector = 'mock' and p.gross_amount is distinct from d.amount
    `,
  },
  BANK_DEBIT_OF_FAILED: {
    cause: 'the bank took the money of a payment that has failed: the payer is owed a refund',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, null::numeric as expected,
        d.amount as found
      from ${merchantsIn(scope)} m
      cross join lateral (
        select * from payment_intents p
        where p.merchant_id = m.id and p.status = 'Failed' and ${during(sql.fragment`p.created_at`, scope)}
      ) p
      join mock_bank.bank_debits d on d.payment_id = p.id
    `,
  },
  BANK_CREDIT: {
    cause: 'the bank did not give this amount back to the payer',
    query: (scope) => sql.fragment`
      select r.merchant_id, r.id::text as subject, p.id as payment_id, p.currency, r.amount as expected, c.amount as found
      from ${executedRefunds(scope)}
      left join mock_bank.bank_credits c on c.refund_id = r.id and c.currency = p.currency
      where p.bank_connector = 'mock' and r.end_to_end_id is null and r.amount is distinct from c.amount
    `,
  },
  FILE_REFUND: {
    cause:
      'no bank statement has the refund that a file took to the bank: the bank did not make it, or a statement is missing',
    query: (scope) => sql.fragment`
      select r.merchant_id, r.id::text as subject, r.payment_intent_id as payment_id, p.currency, r.amount as expected,
        null::numeric as found
      from ${merchantsIn(scope)} m
      join payment_refunds r on r.merchant_id = m.id and r.sent_at is not null and ${during(sql.fragment`r.sent_at`, scope)}
      join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
      -- A bank books within days.
      where (r.status = 'EXECUTED' or (r.status = 'PENDING' and r.sent_at <= ${scope.asOf}::timestamptz - interval '10 days'))
        and not exists (
          select from bank_statement_lines l
          where l.merchant_id = r.merchant_id and l.refund_id = r.id and l.direction = 'DEBIT'
        )
    `,
  },
  REFUND_RETURN: {
    cause: "the bank has returned a refund, and its amount is not in the merchant's balance yet",
    query: (scope) => sql.fragment`
      select l.merchant_id, l.id::text as subject, l.payment_id, l.currency, l.amount as expected, c.amount as found
      from ${merchantsIn(scope)} m
      join bank_statement_lines l on l.merchant_id = m.id and l.refund_id is not null and l.direction = 'CREDIT'
        and ${during(sql.fragment`l.matched_at`, scope)}
      left join corrections c on c.merchant_id = l.merchant_id and c.refund_id = l.refund_id and c.currency = l.currency
      where l.amount is distinct from c.amount
    `,
  },
  STATEMENT_LINE: {
    cause: 'the payment, refund or payout, or the line of the statement, was changed after they were matched',
    query: (scope) => sql.fragment`
      select l.merchant_id, l.id::text as subject, l.payment_id, l.currency,
        coalesce(r.amount, p.gross_amount, o.amount) as expected, l.amount as found
      from ${merchantsIn(scope)} m
      join bank_statement_lines l on l.merchant_id = m.id and ${during(sql.fragment`l.matched_at`, scope)}
      left join payment_intents p on p.merchant_id = l.merchant_id and p.id = l.payment_id
      left join payment_refunds r on r.merchant_id = l.merchant_id and r.id = l.refund_id
      left join payouts o on o.merchant_id = l.merchant_id and o.id = l.payout_id
      where l.amount is distinct from coalesce(r.amount, p.gross_amount, o.amount)
        or l.currency is distinct from coalesce(p.currency, o.currency)
    `,
  },
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

/** The differences that one check finds, the lowest subject first; none where it needs everything and a time is given. */
export function listDifferences(
  tx: CommonQueryMethods,
  { name, scope, limit }: { name: CheckName; scope: Scope; limit: number },
): Promise<readonly DifferenceRecord[]> {
  const { query, isWholeOnly } = CHECKS[name]
  if (isWholeOnly === true && scope.from !== undefined) return Promise.resolve([])
  return tx.any(sql.type(DifferenceRecord)`
    select f.merchant_id, (select trading_name from merchants where id = f.merchant_id) as trading_name, f.subject,
      f.payment_id, f.currency, f.expected, f.found, count(*) over ()::int4 as of_kind
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
