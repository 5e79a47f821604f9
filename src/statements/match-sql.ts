import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { StatementLine } from '../wire/statements.ts'
import { namedPart } from './named-sql.ts'
import type { OwnAccounts } from './own-accounts.ts'
import { PayoutLine, RefundLine, UnmatchedMovementRecord } from './record.ts'

export type MatchRule = Exclude<NonNullable<StatementLine['matched_by']>, 'MANUAL'>

/**
 * How far the day of a line may lie from the creation of its payment or refund: a payment settles within minutes to days,
 * and banks book on working days.
 */
const DAYS_BEFORE = 10
const DAYS_AFTER = 2
/** Days of lines that one statement matches: it reads the movements of these, and of the days that lie about them. */
const DAYS_AT_ONCE = 7
/** A line is compared with movements for so long after its import: what settles settles within days. */
const TRIED_DAYS = 30

/** When a day begins for our banks, whatever the database's own time zone is. */
function midnight(day: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`((${day})::timestamp at time zone 'Europe/London')`
}

/** Of a movement: its id, amount and currency, as SQL. */
type Own = Readonly<Record<'id' | 'amount' | 'currency', FragmentSqlToken>>

/**
 * What both sides have in common by a rule: of a line `l`, and of a movement `m`. Null is equal to nothing. `isWanted` says
 * of a movement whether any line can be it, before anything else of it is read.
 */
type Key = { line: FragmentSqlToken; movement: FragmentSqlToken; isWanted(own: Own): FragmentSqlToken }

const KEYS: Readonly<Record<MatchRule, Key>> = {
  END_TO_END_ID: {
    line: sql.fragment`l.end_to_end_id`,
    movement: sql.fragment`m.end_to_end_id`,
    isWanted: ({ id }) => sql.fragment`${id} in (select key from open_line)`,
  },
  END_TO_END_ID_31: cut(31),
  END_TO_END_ID_18: cut(18),
  // A line that has the whole id of a payment has no such key: it belongs to that payment, or to none.
  REFERENCE: {
    line: sql.fragment`case when l.end_to_end_id ~ '^[A-Z]{3}[0-9a-f]{32}$' then null
      else nullif(regexp_replace(upper(l.remittance), '[^A-Z0-9]', '', 'g'), '') end`,
    movement: sql.fragment`nullif(regexp_replace(upper(m.reference), '[^A-Z0-9]', '', 'g'), '')`,
    isWanted: ({ amount, currency }) =>
      sql.fragment`(${amount}, ${currency}) in (select o.amount, o.currency from open_line o)`,
  },
}

/** Banks cut the end-to-end id to what their own field holds, or to a reference of Faster Payments. */
function cut(length: number): Key {
  return {
    line: sql.fragment`case ${length}::integer
      when length(l.end_to_end_id) then l.end_to_end_id
      when length(l.remittance) then l.remittance
    end`,
    movement: sql.fragment`left(m.end_to_end_id, ${length}::integer)`,
    isWanted: ({ id }) => sql.fragment`left(${id}, ${length}::integer) in (select key from open_line)`,
  }
}

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
function openMovements({ from, to, isWanted }: MovementFilter): FragmentSqlToken {
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

const Matched = z.object({
  count: z.int(),
  payouts: z.array(PayoutLine),
  refunds: z.array(RefundLine),
  doubtful: z.array(z.string()),
})
/**
 * How many lines were matched, and which payouts and refunds they are: debits first, as a payout is paid before it comes
 * back. Besides the days of lines that could be several movements, or whose movement could be several lines.
 */
export type Matched = z.infer<typeof Matched>

/** That a line `l` can be compared with movements by a rule. However old it is, it may be what another line seems to be. */
const isOpen = (rule: MatchRule) => sql.fragment`
  l.matched_by is null and not l.is_reversal and ${KEYS[rule].line} is not null
`
/** That a line `l` which is open is matched by itself. */
const isTried = sql.fragment`l.created_at > now() - make_interval(days => ${TRIED_DAYS})`

/** Days of lines, both included. */
export type Days = { from: string; to: string }

/** The days of the lines that can be matched by a rule, in parts that a statement can match, the first ones first. */
export async function listDays(tx: DatabaseTransactionConnection, rule: MatchRule): Promise<Days[]> {
  const found = await tx.any(sql.type(z.object({ from: z.string(), to: z.string() }))`
    select min(day)::text as from, max(day)::text as to
    from (
      select distinct l.booked_on as day from bank_statement_lines l where ${isOpen(rule)} and ${isTried}
    ) each
    group by (day - date '2000-01-01') / ${DAYS_AT_ONCE}::integer
    order by min(day)
  `)
  return [...found]
}

/** By which rule lines of these days are matched, and which accounts pay: undefined for any. */
export type LinesToMatch = { rule: MatchRule; days: Days; paying: OwnAccounts['paying'] }

/**
 * Matches unmatched lines with movements of the same direction, amount and currency whose keys are equal by the rule, and
 * that were created in the days about the line. A line and its movement need to be the only pair, of these lines and of
 * those that were booked within the same days, also of lines that are no longer tried.
 */
export function matchLines(tx: DatabaseTransactionConnection, lines: LinesToMatch): Promise<Matched> {
  return match(tx, { ...lines, isInOrder: false })
}

/**
 * Matches the lines of a day that are alike by their whole end-to-end id, which alone decides among several: payments have
 * each their own, and refunds of one payment leave in the order of their lines. It is one day, so that the movements are the
 * same for each line; the days follow one another.
 */
export function matchInOrder(
  tx: DatabaseTransactionConnection,
  { day, paying }: Pick<LinesToMatch, 'paying'> & { day: string },
): Promise<Matched> {
  return match(tx, { rule: 'END_TO_END_ID', days: { from: day, to: day }, paying, isInOrder: true })
}

type Match = LinesToMatch & { isInOrder: boolean }

function match(tx: DatabaseTransactionConnection, { rule, days, paying, isInOrder }: Match): Promise<Matched> {
  const { from, to } = days
  const isPaying =
    paying === undefined ? sql.fragment`true` : sql.fragment`l.account = any(${sql.array([...paying], 'text')})`
  const { line, movement, isWanted } = KEYS[rule]
  const besides = isInOrder ? 0 : DAYS_BEFORE + DAYS_AFTER
  return tx.one(sql.type(Matched)`
    with open_line as materialized (
      select l.id, l.direction, l.amount, l.currency, l.booked_on, ${line} as key,
        l.booked_on between ${from}::date and ${to}::date and ${isTried} as is_own,
        ${isPaying} as is_paying,
        row_number() over (partition by ${line}, l.direction, l.amount, l.currency order by l.booked_on, l.id) as place
      from bank_statement_lines l
      where ${isOpen(rule)} and (not ${isInOrder}::boolean or ${isTried})
        and l.booked_on between ${from}::date - ${besides}::integer and ${to}::date + ${besides}::integer
    ),
    movement as materialized (
      select m.*, coalesce(m.remittance_reference, c.remittance_reference) as reference
      from (
        ${openMovements({
          from: midnight(sql.fragment`${from}::date - ${DAYS_BEFORE}::integer`),
          to: midnight(sql.fragment`${to}::date + ${DAYS_AFTER}::integer`),
          isWanted,
        })}
      ) m
      left join payment_consents c on c.merchant_id = m.merchant_id and c.id = m.consent_id
    ),
    candidate as (
      select m.*, ${movement} as key,
        row_number() over (
          partition by ${movement}, m.direction, m.amount, m.currency order by m.created_at, m.refund_id, m.payment_id, m.payout_id
        ) as place
      from movement m
    ),
    pair as (
      select o.id as line_id, o.booked_on, o.is_own, m.merchant_id, m.payment_id, m.refund_id, m.payout_id,
        count(*) over (partition by o.id) as movements,
        count(*) over (partition by m.direction, m.payment_id, m.refund_id, m.payout_id) as lines
      from open_line o
      join candidate m
        on m.key = o.key and m.direction = o.direction and m.amount = o.amount and m.currency = o.currency
          and (o.is_paying or not m.is_of_paying)
          and (not ${isInOrder}::boolean or m.place = o.place)
      where m.created_at >= ${midnight(sql.fragment`o.booked_on - ${DAYS_BEFORE}::integer`)}
        and m.created_at < ${midnight(sql.fragment`o.booked_on + ${DAYS_AFTER}::integer`)}
    ),
    matched as (
      update bank_statement_lines l
      set merchant_id = m.merchant_id, payment_id = m.payment_id, refund_id = m.refund_id, payout_id = m.payout_id,
        matched_by = ${rule}, matched_at = now()
      from pair m
      where l.id = m.line_id and m.is_own and (${isInOrder}::boolean or (m.movements = 1 and m.lines = 1))
      returning l.merchant_id, l.payout_id, l.refund_id, l.direction, l.bank_reference, l.return_reason
    )
    select count(*)::integer as count,
      coalesce(json_agg(m order by m.direction desc) filter (where m.payout_id is not null), '[]') as payouts,
      coalesce(json_agg(m order by m.refund_id, m.direction desc) filter (where m.refund_id is not null), '[]') as refunds,
      array(
        select distinct p.booked_on::text from pair p where p.is_own and (p.movements > 1 or p.lines > 1) order by 1
      ) as doubtful
    from matched m
  `)
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
      : sql.fragment`(m.created_at, coalesce(m.refund_id, m.payment_id, m.payout_id)) > (${after.at}::timestamptz, ${after.id}::uuid)`
  return tx.any(sql.type(UnmatchedMovementRecord)`
    select m.kind, m.merchant_id, m.payment_id, m.refund_id, m.payout_id, m.end_to_end_id, m.amount, m.currency,
      to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at
    from (${openMovements({
      from: midnight(sql.fragment`${from}::date`),
      to: midnight(sql.fragment`(${to}::date + 1)`),
      isWanted: () => sql.fragment`true`,
    })}) m
    where ${later} and m.kind not in ('payout_return', 'refund_return')
    order by m.created_at, coalesce(m.refund_id, m.payment_id, m.payout_id)
    limit ${limit + 1}
  `)
}
