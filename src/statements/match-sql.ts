import type { DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { StatementLine } from '../wire/statements.ts'
import { midnight, openMovements } from './movements-sql.ts'
import type { Own } from './movements-sql.ts'
import type { OwnAccounts } from './own-accounts.ts'
import type { Days } from './parts-of-days.ts'
import { PayoutLine, RefundLine } from './record.ts'
import type { ByReference } from './record.ts'

export type MatchRule = Exclude<NonNullable<StatementLine['matched_by']>, 'MANUAL'>

/**
 * How far the day of a line may lie from the creation of its payment or refund: a payment settles within minutes to days,
 * and banks book on working days.
 */
export const DAYS_BEFORE = 10
export const DAYS_AFTER = 2
/** Days of lines that one statement matches: it reads the movements of these, and of the days that lie about them. */
const DAYS_AT_ONCE = 7
/** A line is compared with movements for so long after its import: what settles settles within days. */
const TRIED_DAYS = 30

/**
 * What both sides have in common by a rule: of a line `l`, and of a movement `m`. Null is equal to nothing. `isWanted` says
 * of a movement whether any line can be it, before anything else of it is read.
 */
type Key = { line: FragmentSqlToken; movement: FragmentSqlToken; isWanted(own: Own): FragmentSqlToken }

export const KEYS: Readonly<Record<MatchRule, Key>> = {
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
export const isOpen = (rule: MatchRule) => sql.fragment`
  l.matched_by is null and not l.is_reversal and ${KEYS[rule].line} is not null
`
/** That a line `l` which is open is matched by itself. */
const isTried = sql.fragment`l.created_at > now() - make_interval(days => ${TRIED_DAYS})`

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
export type LinesToMatch = { rule: Exclude<MatchRule, 'REFERENCE'>; days: Days; paying: OwnAccounts['paying'] }

/**
 * Matches unmatched lines with movements of the same direction, amount and currency whose keys are equal by the rule, and
 * that were created in the days about the line. A line and its movement need to be the only pair, of these lines and of
 * those that were booked within the same days, also of lines that are no longer tried.
 */
export function matchLines(tx: DatabaseTransactionConnection, { rule, days, paying }: LinesToMatch): Promise<Matched> {
  return match(tx, { rule, days, paying, isInOrder: false, candidates: candidatesOf(rule, days) })
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
  const days = { from: day, to: day }
  const candidates = candidatesOf('END_TO_END_ID', days)
  return match(tx, { rule: 'END_TO_END_ID', days, paying, isInOrder: true, candidates })
}

/** Matches lines as `matchLines` does, with the movements that `listByReference` has found in all days about them. */
export function matchByReference(
  tx: DatabaseTransactionConnection,
  { days, movements }: { days: Days; movements: readonly ByReference[] },
): Promise<Matched> {
  const tuples = movements.map((each) => [
    each.merchant_id,
    each.payment_id,
    each.refund_id,
    each.direction,
    each.amount,
    each.currency,
    each.key,
    each.created_at,
  ])
  const types = ['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text']
  const candidates = sql.fragment`
    select merchant_id, payment_id, refund_id, null::uuid as payout_id, direction, amount::numeric as amount, currency, key,
      created_at::timestamptz as created_at, false as is_of_paying, 1 as place
    from ${sql.unnest(tuples, types)} as m (
      merchant_id, payment_id, refund_id, direction, amount, currency, key, created_at
    )
  `
  return match(tx, { rule: 'REFERENCE', days, paying: undefined, isInOrder: false, candidates })
}

/** The movements of all days about lines, each with its key by the rule, and its place among those that are alike. */
function candidatesOf(rule: MatchRule, { from, to }: Days): FragmentSqlToken {
  const { movement, isWanted } = KEYS[rule]
  const movements = openMovements({
    from: midnight(sql.fragment`${from}::date - ${DAYS_BEFORE}::integer`),
    to: midnight(sql.fragment`${to}::date + ${DAYS_AFTER}::integer`),
    isWanted,
  })
  return sql.fragment`
    select m.*, ${movement} as key,
      row_number() over (
        partition by ${movement}, m.direction, m.amount, m.currency order by m.created_at, m.refund_id, m.payment_id, m.payout_id
      ) as place
    from (${movements}) m
  `
}

type Match = Omit<LinesToMatch, 'rule'> & { rule: MatchRule; isInOrder: boolean; candidates: FragmentSqlToken }

function match(
  tx: DatabaseTransactionConnection,
  { rule, days, paying, isInOrder, candidates }: Match,
): Promise<Matched> {
  const { from, to } = days
  const isPaying =
    paying === undefined ? sql.fragment`true` : sql.fragment`l.account = any(${sql.array([...paying], 'text')})`
  const { line } = KEYS[rule]
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
    candidate as materialized (${candidates}),
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
