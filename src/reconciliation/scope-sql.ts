import type { FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** What is compared: one merchant or all of them, from a moment or from the beginning, up to a moment. */
export type Scope = {
  merchantId: string | undefined
  from: string | undefined
  /** The end of what is compared, and the moment from which every part counts how old something is. */
  asOf: string
  /** Where a part ends before that. */
  until?: string | undefined
  /** For the check that reads all lines: the numbers that it reads now. */
  numbers?: Numbers | undefined
  /** For the check of balances: the entries, added up in parts. */
  sums?: readonly EntrySum[] | undefined
}

/** Entries of the same accounts, added up. */
export const EntrySum = z.object({
  merchant_id: z.string(),
  currency: z.string(),
  debit: z.string(),
  credit: z.string(),
  amount: z.string(),
})
export type EntrySum = z.infer<typeof EntrySum>

/** From a number up to another, or to the end. */
export type Numbers = { first: bigint; end: bigint | null }

/** A check, whose query returns a row for each difference. */
export type Check = {
  cause: string
  query(scope: Scope): FragmentSqlToken
  /** Its rows have a `cause` of their own, with the command that resolves each. */
  hasOwnCause?: true
  /** It needs everything, and is left out where a time is given. */
  isWholeOnly?: true
  /** Its rows are of no merchant, and are left out where one merchant is compared. */
  isOfAllOnly?: true
}

/** The merchants that are compared. */
export function merchantsIn({ merchantId }: Scope): FragmentSqlToken {
  return merchantId === undefined
    ? sql.fragment`(select id from merchants)`
    : sql.fragment`(select ${merchantId}::uuid as id)`
}

/** That a time is in what is compared. */
export function during(column: FragmentSqlToken, { from, asOf, until = asOf }: Scope): FragmentSqlToken {
  const isBefore = sql.fragment`${column} <= ${until}::timestamptz`
  return from === undefined ? isBefore : sql.fragment`${isBefore} and ${column} >= ${from}::timestamptz`
}

/** That a number is among those that are read. */
export function among(column: FragmentSqlToken, { numbers }: Scope): FragmentSqlToken {
  if (numbers === undefined) return sql.fragment`true`
  const from = sql.fragment`${column} >= ${numbers.first}`
  return numbers.end === null ? from : sql.fragment`${from} and ${column} < ${numbers.end}`
}

/** Entries `e` of some movements that were posted in the time. */
export function entries(scope: Scope, movements: readonly string[]): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    join ledger_entries e on e.merchant_id = m.id
      and e.movement = any(${sql.array([...movements], 'text')}::ledger_movement[])
      and ${during(sql.fragment`e.created_at`, scope)}
  `
}

/** Payments `p` that have settled in the time: by their `event`, which says when. */
export function settledPayments(scope: Scope): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    cross join lateral (
      select e.payment_intent_id, e.created_at from payment_events e
      where e.merchant_id = m.id and e.new_status = 'Settled' and ${during(sql.fragment`e.created_at`, scope)}
    ) event
    join payment_intents p on p.merchant_id = m.id and p.id = event.payment_intent_id
  `
}

/** Refunds `r` that were executed in the time, with their payments `p`. */
export function executedRefunds(scope: Scope): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    join payment_refunds r on r.merchant_id = m.id and r.status = 'EXECUTED'
      and ${during(sql.fragment`r.updated_at`, scope)}
    join payment_intents p on p.merchant_id = m.id and p.id = r.payment_intent_id
  `
}
