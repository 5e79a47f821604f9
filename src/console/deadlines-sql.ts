import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/*
 * Until when a person should have dealt with what waits. The evidence of a dispute has a deadline that the specification
 * sets (decision 22); the others are our own rules, and nothing happens by itself when they pass.
 */

/** A merchant that has registered is decided on within a working day: what comes on a weekend, by the end of Monday's. */
export function kybDue(since: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`${since} + make_interval(days => case extract(isodow from ${since} at time zone 'UTC')::int
    when 5 then 3 when 6 then 2 else 1 end)`
}

/** A half-made registration keeps its merchant out. */
export const REGISTRATION_DUE = sql.fragment`interval '1 hour'`

/** Both sides have said what they had to say. */
export const REVIEW_DUE = sql.fragment`interval '3 days'`

/** Whoever escalated could not decide it. */
export const ESCALATION_DUE = sql.fragment`interval '1 day'`

/** A merchant's server has not been told for half a day by then. */
export const DEAD_DUE = sql.fragment`interval '24 hours'`

/** A merchant that may not work loses money each day. */
export const STOPPED_DUE = sql.fragment`interval '24 hours'`
