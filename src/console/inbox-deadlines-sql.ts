import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import type { Holidays } from '../lib/working-days.ts'

/*
 * Until when an operator or a merchant should have handled an inbox item: our own rules (decision 214), and nothing
 * happens by itself when a deadline passes. The deadlines of disputes are in disputes/deadline-sql.ts.
 */

/** More days than any run of holidays (EXTRA_DAYS_MAX of lib/working-days.ts, with their weekends). */
const SEARCHED_DAYS = 1_000

/**
 * A registered merchant gets its KYB decision within a working day: by the same time of the next day on which banks in
 * London work, so that a registration on a weekend or a bank holiday waits until it is over.
 */
export function kybDeadline(since: FragmentSqlToken, holidays: Holidays): FragmentSqlToken {
  const local = sql.fragment`(${since} at time zone 'Europe/London')`
  // In the select list, days are generated one by one until the limit; a set in FROM would be generated whole.
  return sql.fragment`(
    select (${local} + make_interval(days => day.number)) at time zone 'Europe/London'
    from (select generate_series(1, ${SEARCHED_DAYS}::int4) as number) day
    where extract(isodow from ${local} + make_interval(days => day.number)) < 6
      and (${local} + make_interval(days => day.number))::date <> all (${sql.array([...holidays], 'date')})
    limit 1
  )`
}

/** An incomplete registration keeps its merchant from signing in. */
export const REGISTRATION_TIME = sql.fragment`interval '1 hour'`

/** By then the merchant's server has missed the event for half a day. */
export const DEAD_DELIVERY_TIME = sql.fragment`interval '24 hours'`

/** A suspended or held merchant loses money each day. */
export const STOPPED_MERCHANT_TIME = sql.fragment`interval '24 hours'`

/** A bank's API answers within seconds; a file is answered within its bank's days. Longer silence is looked into. */
export const API_ANSWER_TIME = sql.fragment`interval '1 day'`
export const FILE_ANSWER_TIME = sql.fragment`interval '3 days'`
export const UNANSWERED_PAYOUT_TIME = sql.fragment`interval '8 hours'`

/** The payer may have paid, and the merchant does not know it. */
export const UNANSWERED_PAYMENT_TIME = sql.fragment`interval '8 hours'`

/** Money is at our bank that no balance has. */
export const LINE_OF_FAILED_TIME = sql.fragment`interval '1 day'`

/** The merchant may have been paid twice, or be about to be. It is shown for some time, as nothing here ends it. */
export const UNEXPECTED_RETURN_TIME = sql.fragment`interval '8 hours'`
export const UNEXPECTED_RETURN_SHOWN = sql.fragment`interval '30 days'`

/** The payer waits for money that the service has. */
export const OWED_REFUND_TIME = sql.fragment`interval '1 day'`
/** The bank may never take it, and what is paid otherwise is not known here. */
export const OWED_REFUND_SHOWN = sql.fragment`interval '30 days'`

/** Money that does not add up is looked into on the same day. */
export const RECONCILIATION_TIME = sql.fragment`interval '8 hours'`
