import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import type { Holidays } from '../lib/working-days.ts'

/*
 * Until when a person should have dealt with what waits: our own rules, and nothing happens by itself when they pass. The
 * deadlines of disputes stand in disputes/due-sql.ts.
 */

/** More days than any holidays in a row (EXTRA_DAYS_MAX of lib/working-days.ts, with their weekends). */
const SEARCHED_DAYS = 1_000

/**
 * A merchant that has registered is decided on within a working day: by the same time of London's next day on which banks
 * work, so that what comes on a weekend or before a bank holiday waits until it is over.
 */
export function kybDue(since: FragmentSqlToken, holidays: Holidays): FragmentSqlToken {
  const local = sql.fragment`(${since} at time zone 'Europe/London')`
  // Generated one by one, as far as they are asked for: a set in FROM would be made whole.
  return sql.fragment`(
    select (${local} + make_interval(days => day.number)) at time zone 'Europe/London'
    from (select generate_series(1, ${SEARCHED_DAYS}::int4) as number) day
    where extract(isodow from ${local} + make_interval(days => day.number)) < 6
      and (${local} + make_interval(days => day.number))::date <> all (${sql.array([...holidays], 'date')})
    limit 1
  )`
}

/** A half-made registration keeps its merchant out. */
export const REGISTRATION_DUE = sql.fragment`interval '1 hour'`

/** A merchant's server has not been told for half a day by then. */
export const DEAD_DUE = sql.fragment`interval '24 hours'`

/** A merchant that may not work loses money each day. */
export const STOPPED_DUE = sql.fragment`interval '24 hours'`
