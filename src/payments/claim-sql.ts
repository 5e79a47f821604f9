import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/** Which payments wait for a worker, whose turn is first, and how many it takes. */
export type Claim = { waiting: FragmentSqlToken; orderBy: FragmentSqlToken; limit: number; leaseSeconds: number }

/**
 * Payments taken for `leaseSeconds`, as `claimed`, for the statement behind it to read from: no other worker takes them
 * meanwhile, and a worker that dies gives them back when the lease ends.
 */
export function claimedPayments({ waiting, orderBy, limit, leaseSeconds }: Claim): FragmentSqlToken {
  return sql.fragment`
    with due as (
      select merchant_id, id
      from payment_intents
      where ${waiting} and (locked_until is null or locked_until < now())
      order by ${orderBy}
      limit ${limit}
      for update skip locked
    ),
    claimed as (
      update payment_intents p
      set locked_until = now() + make_interval(secs => ${leaseSeconds})
      from due
      where p.merchant_id = due.merchant_id and p.id = due.id
      returning p.*
    )
  `
}
