import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/*
 * Deadlines of disputes. A merchant's deadline for evidence is a rule (decision 23); those of operators are our own
 * targets, and nothing happens automatically when they pass.
 */

/** Time to resolve a dispute under review: both sides have made their statements. */
const REVIEW_DUE = sql.fragment`interval '3 days'`

/** Time to resolve an escalated dispute: it has waited for one decision before. */
const ESCALATION_DUE = sql.fragment`interval '1 day'`

/** The statuses that need an action of the merchant or of an operator. */
export const UNRESOLVED = sql.fragment`('OPEN', 'UNDER_REVIEW', 'ESCALATED')`

/** When dispute `d` entered its status: further evidence does not extend a deadline. */
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
