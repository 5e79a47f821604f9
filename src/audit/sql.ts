import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { Examined, examinedRows } from '../db/examined-sql.ts'
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

/** How many actions a statement compares with the filters that have no index (decision 389). */
export const EXAMINED_MAX = 20_000

const ExaminedAction = OperatorActionRecord.extend(Examined.shape)
export type ExaminedAction = z.infer<typeof ExaminedAction>

/** Actions of the trail, the newest first, as `examinedRows` returns them. */
export function listActionRows(tx: CommonQueryMethods, filter: ActionFilter): Promise<readonly ExaminedAction[]> {
  const { merchantId, action, actor, from, to, beforeOrdinal, limit } = filter
  const indexed = [sql.fragment`true`]
  if (merchantId !== undefined) indexed.push(sql.fragment`merchant_id = ${merchantId}`)
  if (beforeOrdinal !== undefined) indexed.push(sql.fragment`ordinal < ${beforeOrdinal}::bigint`)
  const matches: FragmentSqlToken[] = []
  if (action !== undefined) matches.push(sql.fragment`o.action = ${action}`)
  if (actor !== undefined) matches.push(sql.fragment`(o.actor_id = ${actor} or o.actor_name = ${actor})`)
  if (from !== undefined) matches.push(sql.fragment`o.created_at >= ${from}::timestamptz`)
  if (to !== undefined) matches.push(sql.fragment`o.created_at < ${to}::timestamptz`)
  const candidates = (count: number): FragmentSqlToken => sql.fragment`
    select ordinal, action, actor_id, actor_name, created_at
    from operator_actions
    where ${sql.join(indexed, sql.fragment` and `)}
    order by ordinal desc
    limit ${count}`
  const order = sql.fragment`ordinal desc`
  return tx.any(sql.type(ExaminedAction)`
    select ${actionColumns}, matches, is_last_examined
    from (
      select ordinal, matches, is_last_examined
      from (${examinedRows({ candidates, matches, examined: EXAMINED_MAX, limit, order })}) examined
    ) page
    join operator_actions using (ordinal)
    order by ordinal desc
  `)
}

/** The last action of a name, of one merchant or of all; null where there is none. */
export function findLastAction(
  tx: CommonQueryMethods,
  { merchantId, action }: { merchantId?: string; action: string },
): Promise<OperatorActionRecord | null> {
  const ofMerchant = merchantId === undefined ? sql.fragment`` : sql.fragment`and merchant_id = ${merchantId}`
  return tx.maybeOne(sql.type(OperatorActionRecord)`
    select ${actionColumns}
    from operator_actions
    where action = ${action} ${ofMerchant}
    order by ordinal desc
    limit 1
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
