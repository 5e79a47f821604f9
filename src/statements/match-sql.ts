import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import type { StatementLine } from '../wire/statements.ts'
import { UnmatchedMovementRecord } from './record.ts'

export type MatchRule = Exclude<NonNullable<StatementLine['matched_by']>, 'MANUAL'>

/**
 * How far the day of a line may lie from the creation of its payment or refund: a payment settles within minutes to days,
 * and banks book on working days.
 */
const DAYS_BEFORE = 10
const DAYS_AFTER = 2

/** What both sides have in common by a rule: of a line `l`, and of a movement `m`. Null is equal to nothing. */
const KEYS: Readonly<Record<MatchRule, { line: FragmentSqlToken; movement: FragmentSqlToken }>> = {
  END_TO_END_ID: { line: sql.fragment`l.end_to_end_id`, movement: sql.fragment`m.end_to_end_id` },
  END_TO_END_ID_31: cut(31),
  END_TO_END_ID_18: cut(18),
  REFERENCE: {
    line: sql.fragment`nullif(regexp_replace(upper(l.remittance), '[^A-Z0-9]', '', 'g'), '')`,
    movement: sql.fragment`nullif(regexp_replace(upper(m.reference), '[^A-Z0-9]', '', 'g'), '')`,
  },
}

/** Banks cut the end-to-end id to what their own field holds, or to a reference of Faster Payments. */
function cut(length: number): { line: FragmentSqlToken; movement: FragmentSqlToken } {
  return {
    line: sql.fragment`case ${length}::integer
      when length(l.end_to_end_id) then l.end_to_end_id
      when length(l.remittance) then l.remittance
    end`,
    movement: sql.fragment`left(m.end_to_end_id, ${length}::integer)`,
  }
}

/** Settled payments and executed refunds `m` that no line is known of, created in a time. */
function openMovements(from: FragmentSqlToken, to: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select 'payment' as kind, p.merchant_id, p.id as payment_id, null::uuid as refund_id, 'CREDIT' as direction,
      p.gross_amount as amount, p.currency, p.end_to_end_id, p.created_at, p.consent_id, p.remittance_reference
    from merchants each
    cross join lateral (
      select * from payment_intents p
      where p.merchant_id = each.id and p.created_at >= ${from} and p.created_at < ${to}
        and p.status in ('Settled', 'Refunded')
    ) p
    where not exists (
      select from bank_statement_lines l
      where l.merchant_id = p.merchant_id and l.payment_id = p.id and l.refund_id is null
    )
    union all
    select 'refund', r.merchant_id, p.id, r.id, 'DEBIT', r.amount, p.currency, p.end_to_end_id, r.created_at, p.consent_id,
      p.remittance_reference
    from payment_refunds r
    join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
    where r.status = 'EXECUTED' and r.created_at >= ${from} and r.created_at < ${to}
      and not exists (
        select from bank_statement_lines l where l.merchant_id = r.merchant_id and l.refund_id = r.id
      )
  `
}

/**
 * Matches unmatched lines with movements of the same direction, amount and currency whose keys are equal by the rule.
 * Where several lines or movements are alike, only a whole end-to-end id decides: payments have each their own, and
 * refunds of one payment leave in the order of their lines. Every other rule needs to be the only pair.
 * @returns how many lines it has matched
 */
export async function matchLines(tx: DatabaseTransactionConnection, rule: MatchRule): Promise<number> {
  const { line, movement } = KEYS[rule]
  const isExact = rule === 'END_TO_END_ID'
  const matched = await tx.query(sql.typeAlias('void')`
    with open_line as materialized (
      select l.id, l.direction, l.amount, l.currency, l.booked_on, ${line} as key,
        row_number() over (partition by ${line}, l.direction, l.amount, l.currency order by l.booked_on, l.id) as place,
        count(*) over (partition by ${line}, l.direction, l.amount, l.currency) as alike
      from bank_statement_lines l
      where l.matched_by is null and not l.is_reversal and ${line} is not null
    ),
    movement as materialized (
      select m.*, coalesce(m.remittance_reference, c.remittance_reference) as reference
      from (
        ${openMovements(
          sql.fragment`(select min(booked_on) - ${DAYS_BEFORE}::integer from open_line)`,
          sql.fragment`(select max(booked_on) + ${DAYS_AFTER}::integer from open_line)`,
        )}
      ) m
      join payment_consents c on c.merchant_id = m.merchant_id and c.id = m.consent_id
    ),
    candidate as (
      select m.*, ${movement} as key,
        row_number() over (
          partition by ${movement}, m.direction, m.amount, m.currency order by m.created_at, m.refund_id, m.payment_id
        ) as place,
        count(*) over (partition by ${movement}, m.direction, m.amount, m.currency) as alike
      from movement m
    )
    update bank_statement_lines l
    set merchant_id = m.merchant_id, payment_id = m.payment_id, refund_id = m.refund_id, matched_by = ${rule},
      matched_at = now()
    from open_line o
    join candidate m
      on m.key = o.key and m.direction = o.direction and m.amount = o.amount and m.currency = o.currency
        and m.place = o.place
    where l.id = o.id and (${isExact}::boolean or (o.alike = 1 and m.alike = 1))
      and m.created_at >= o.booked_on - ${DAYS_BEFORE}::integer and m.created_at < o.booked_on + ${DAYS_AFTER}::integer
  `)
  return matched.rowCount
}

/** A page of movements that no line is known of, the oldest first, with one row more than `limit` where there are more. */
export function listUnmatchedRows(
  tx: CommonQueryMethods,
  {
    from,
    to,
    after,
    limit,
  }: { from: string; to: string; after: { at: string; id: string } | undefined; limit: number },
): Promise<readonly UnmatchedMovementRecord[]> {
  const later =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(m.created_at, coalesce(m.refund_id, m.payment_id)) > (${after.at}::timestamptz, ${after.id}::uuid)`
  return tx.any(sql.type(UnmatchedMovementRecord)`
    select m.kind, m.merchant_id, m.payment_id, m.refund_id, m.end_to_end_id, m.amount, m.currency,
      to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at
    from (${openMovements(sql.fragment`${from}::date`, sql.fragment`${to}::date + 1`)}) m
    where ${later}
    order by m.created_at, coalesce(m.refund_id, m.payment_id)
    limit ${limit + 1}
  `)
}
