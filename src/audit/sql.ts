import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { OperatorActionRecord } from './record.ts'

export type NewAction = {
  id: string
  actorId: string
  actorName: string
  actorRole: string
  action: string
  merchantId: string | null
  subjectId: string
  reason: string | null
  /** JSON text, or null. */
  before: string | null
  after: string | null
}

/** Appends an action; a trigger gives it its ordinal and chains it. */
export async function insertAction(tx: CommonQueryMethods, action: NewAction): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into operator_actions (
      id, actor_id, actor_name, actor_role, action, merchant_id, subject_id, reason, before, after, prev_hash, action_hash
    )
    values (
      ${action.id}, ${action.actorId}, ${action.actorName}, ${action.actorRole}, ${action.action}, ${action.merchantId},
      ${action.subjectId}, ${action.reason}, ${action.before}::json, ${action.after}::json, '', ''
    )
  `)
}

const actionColumns = sql.fragment`
  ordinal, actor_id, actor_name, actor_role, action, merchant_id, subject_id, reason, before, after, action_hash, created_at,
  (select realm_slug from merchants where merchants.id = merchant_id) as realm_slug
`

/** A filter of the trail; an undefined member matches everything. */
export type ActionFilter = {
  merchantId?: string | undefined
  action?: string | undefined
  /** The actor's id or name. */
  actor?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Only actions before this one. */
  beforeOrdinal?: string | undefined
  limit: number
}

/** Actions of the trail, the newest first. */
export function listActionRows(
  tx: CommonQueryMethods,
  { merchantId, action, actor, from, to, beforeOrdinal, limit }: ActionFilter,
): Promise<readonly OperatorActionRecord[]> {
  const conditions = [sql.fragment`true`]
  if (merchantId !== undefined) conditions.push(sql.fragment`merchant_id = ${merchantId}`)
  if (action !== undefined) conditions.push(sql.fragment`action = ${action}`)
  if (actor !== undefined) conditions.push(sql.fragment`(actor_id = ${actor} or actor_name = ${actor})`)
  if (from !== undefined) conditions.push(sql.fragment`created_at >= ${from}::timestamptz`)
  if (to !== undefined) conditions.push(sql.fragment`created_at < ${to}::timestamptz`)
  if (beforeOrdinal !== undefined) conditions.push(sql.fragment`ordinal < ${beforeOrdinal}::bigint`)
  return tx.any(sql.type(OperatorActionRecord)`
    select ${actionColumns}
    from operator_actions
    where ${sql.join(conditions, sql.fragment` and `)}
    order by ordinal desc
    limit ${limit}
  `)
}

/** One action of the trail; null where there is none. */
export function findActionRow(tx: CommonQueryMethods, ordinal: string): Promise<OperatorActionRecord | null> {
  return tx.maybeOne(sql.type(OperatorActionRecord)`
    select ${actionColumns}
    from operator_actions
    where ordinal = ${ordinal}::bigint
  `)
}
