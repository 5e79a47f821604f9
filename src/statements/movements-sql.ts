import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { namedPart } from './named-sql.ts'
import { UnmatchedMovementRecord } from './record.ts'

/** When a day begins for our banks, whatever the database's own time zone is. */
export function midnight(day: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`((${day})::timestamp at time zone 'Europe/London')`
}

/** Of a movement: its id, amount and currency, as SQL. */
export type Own = Readonly<Record<'id' | 'amount' | 'currency', FragmentSqlToken>>

const ofPayment = {
  id: sql.fragment`p.end_to_end_id`,
  amount: sql.fragment`p.gross_amount`,
  currency: sql.fragment`p.currency`,
}
const ofRefund = { ...ofPayment, amount: sql.fragment`r.amount` }
const ofFileRefund = { ...ofRefund, id: sql.fragment`r.end_to_end_id` }
const ofPayout = { ...ofPayment, amount: sql.fragment`p.amount` }

/**
 * That a movement of `each.direction` can be a rule's. What left twice under one id can come back once: then no rule says
 * whether that is its return, by which the money would be paid out again, or the bank's correction (decision 255).
 */
function canBeMatched(own: Own, isLineOf: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(each.direction = 'DEBIT' or (
    select count(*) from bank_statement_lines l
    where l.named_id = ${namedPart(own.id)} and l.merchant_id is null and l.direction = 'DEBIT'
      and l.amount = ${own.amount} and l.currency = ${own.currency}
  ) + (select count(*) from bank_statement_lines l where ${isLineOf} and l.direction = 'DEBIT') < 2)`
}

type MovementFilter = { from: FragmentSqlToken; to: FragmentSqlToken; isWanted(own: Own): FragmentSqlToken }

/**
 * Settled payments, executed refunds and payouts `m` that no line is known of, created in a time. What a file took to the
 * bank can come back under its own id; it is on the statements of no other account than one that pays.
 */
export function openMovements({ from, to, isWanted }: MovementFilter): FragmentSqlToken {
  return sql.fragment`
    select 'payment' as kind, p.merchant_id, p.id as payment_id, null::uuid as refund_id, null::uuid as payout_id,
      'CREDIT' as direction,
      p.gross_amount as amount, p.currency, p.end_to_end_id, p.created_at, p.consent_id, p.remittance_reference,
      false as is_of_paying
    from merchants each
    cross join lateral (
      select * from payment_intents p
      where p.merchant_id = each.id and p.created_at >= ${from} and p.created_at < ${to}
        and p.status in ('Settled', 'Refunded') and ${isWanted(ofPayment)}
    ) p
    where not exists (
      select from bank_statement_lines l
      where l.merchant_id = p.merchant_id and l.payment_id = p.id and l.refund_id is null
    )
    union all
    select 'refund', r.merchant_id, p.id, r.id, null, 'DEBIT', r.amount, p.currency, p.end_to_end_id, r.created_at, p.consent_id,
      p.remittance_reference, false
    from payment_refunds r
    join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
    where r.status = 'EXECUTED' and r.end_to_end_id is null and r.created_at >= ${from} and r.created_at < ${to}
      and ${isWanted(ofRefund)} and not exists (
        select from bank_statement_lines l where l.merchant_id = r.merchant_id and l.refund_id = r.id
      )
    union all
    -- A refund that a file took to the bank has an end-to-end id of its own, and is executed when its line is known.
    select each.kind, r.merchant_id, p.id, r.id, null, each.direction, r.amount, p.currency, r.end_to_end_id, r.sent_at, null, null,
      true
    from payment_refunds r
    join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
    cross join (values ('refund', 'DEBIT'), ('refund_return', 'CREDIT')) each (kind, direction)
    where r.status in ('PENDING', 'EXECUTED') and r.sent_at >= ${from} and r.sent_at < ${to}
      and ${isWanted(ofFileRefund)} and not exists (
        select from bank_statement_lines l
        where l.merchant_id = r.merchant_id and l.refund_id = r.id and l.direction = each.direction
      )
      and ${canBeMatched(ofFileRefund, sql.fragment`l.merchant_id = r.merchant_id and l.refund_id = r.id`)}
    union all
    select each.kind, p.merchant_id, null, null, p.id, each.direction, p.amount, p.currency, p.end_to_end_id, p.sent_at, null, null,
      true
    from payouts p
    cross join (values ('payout', 'DEBIT'), ('payout_return', 'CREDIT')) each (kind, direction)
    where p.status in ('SENT', 'PAID', 'RETURNED') and p.sent_at >= ${from} and p.sent_at < ${to}
      and ${isWanted(ofPayout)} and not exists (
        select from bank_statement_lines l
        where l.merchant_id = p.merchant_id and l.payout_id = p.id and l.direction = each.direction
      )
      and ${canBeMatched(ofPayout, sql.fragment`l.merchant_id = p.merchant_id and l.payout_id = p.id`)}
  `
}

/** Movements of some days that no line is known of, the oldest first, at most one more than `limit`. */
export function listUnmatchedRows(
  tx: CommonQueryMethods,
  {
    from,
    to,
    after,
    limit,
  }: { from: string; to: string; after: { at: string; id: string } | undefined; limit: number },
): Promise<readonly UnmatchedMovementRecord[]> {
  const first = midnight(sql.fragment`${from}::date`)
  const later =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(m.created_at, coalesce(m.refund_id, m.payment_id, m.payout_id)) > (${after.at}::timestamptz, ${after.id}::uuid)`
  return tx.any(sql.type(UnmatchedMovementRecord)`
    select m.kind, m.merchant_id, m.payment_id, m.refund_id, m.payout_id, m.end_to_end_id, m.amount, m.currency,
      to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at
    from (${openMovements({
      from: after === undefined ? first : sql.fragment`greatest(${first}, ${after.at}::timestamptz)`,
      to: midnight(sql.fragment`(${to}::date + 1)`),
      isWanted: () => sql.fragment`true`,
    })}) m
    where ${later} and m.kind not in ('payout_return', 'refund_return')
    order by m.created_at, coalesce(m.refund_id, m.payment_id, m.payout_id)
    limit ${limit + 1}
  `)
}
