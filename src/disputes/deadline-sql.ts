import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/*
 * Until when whoever's turn it is should have dealt with a dispute. The deadline of evidence is set (decision 23); those of
 * operators are our own rules, and nothing happens by itself when they pass.
 */

/** Both sides have said what they had to say. */
const REVIEW_DUE = sql.fragment`interval '3 days'`

/** Whoever escalated could not decide it. */
const ESCALATION_DUE = sql.fragment`interval '1 day'`

/** The statuses that somebody has to do something about. */
export const UNRESOLVED = sql.fragment`('OPEN', 'UNDER_REVIEW', 'ESCALATED')`

/** Since when dispute `d` stands where it stands: more evidence makes nothing younger. */
export const inStatusSince: FragmentSqlToken = sql.fragment`(
  select e.created_at from dispute_events e
  where e.merchant_id = d.merchant_id and e.dispute_id = d.id and e.new_status = d.status
  order by e.ordinal
  limit 1
)`

/** The deadline of dispute `d`; null once it is resolved. */
export const disputeDue: FragmentSqlToken = sql.fragment`(
  case d.status
    when 'OPEN' then d.evidence_due_at
    when 'UNDER_REVIEW' then ${inStatusSince} + ${REVIEW_DUE}
    when 'ESCALATED' then ${inStatusSince} + ${ESCALATION_DUE}
  end
)`
