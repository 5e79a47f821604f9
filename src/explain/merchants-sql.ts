import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ToldAct, ToldMerchant } from './record.ts'

/** How far what is open at a merchant is counted. */
const COUNTED_MAX = 1_000

/** How far back in a merchant's audit trail acts are looked for. */
const ACTS_LOOKED_AT = 500

export function findMerchant(tx: CommonQueryMethods, id: string): Promise<ToldMerchant | null> {
  return tx.maybeOne(sql.type(ToldMerchant)`
    select m.id, m.trading_name, m.realm_slug, m.kyb_status, m.is_active, m.payout_held, m.payout_held_at,
      m.webhook_url is not null as has_endpoint, m.paused_webhook_url is not null as is_paused, m.created_at,
      (
        select count(*)::int4
        from (
          select from webhook_deliveries d
          where d.merchant_id = m.id and d.last_error is not null and d.status = 'DEAD'
          limit ${COUNTED_MAX}
        ) dead
      ) as dead_deliveries,
      (
        select count(*)::int4
        from (
          select from disputes d
          where d.merchant_id = m.id and d.status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED')
          limit ${COUNTED_MAX}
        ) open
      ) as open_disputes,
      now() as now
    from merchants m
    where m.id = ${id}
  `)
}

export type ActsFilter = {
  merchantId: string
  /** Those of these names. */
  actions: readonly string[]
  /** And whatever was done to these rows. */
  subjectIds: readonly string[]
  /** Only what was done from then on, and until then. */
  since: string | null
  until: string | null
  limit: number
}

/** What operators and the merchant's own people did to a merchant, the newest first. */
export function listActs(tx: CommonQueryMethods, filter: ActsFilter): Promise<readonly ToldAct[]> {
  return tx.any(sql.type(ToldAct)`
    select a.action, a.actor_name, a.actor_role, a.reason, a.subject_id, a.before ->> 'kyb_status' as kyb_before,
      a.after ->> 'kyb_status' as kyb_status,
      (a.after ->> 'payout_held')::boolean as payout_held, (a.after ->> 'is_active')::boolean as is_active,
      (a.before ->> 'paused')::boolean as was_paused, (a.after ->> 'paused')::boolean as is_paused,
      a.before ->> 'webhook_url' is not null as had_endpoint, a.after ->> 'webhook_url' is not null as has_endpoint,
      a.after ->> 'advance_ms' as advance_ms, a.created_at
    from (
      select action, actor_name, actor_role, reason, subject_id, before, after, created_at, ordinal
      from operator_actions
      where merchant_id = ${filter.merchantId}
      order by ordinal desc
      limit ${ACTS_LOOKED_AT}
    ) a
    where (
        a.action = any(${sql.array([...filter.actions], 'text')})
        or a.subject_id = any(${sql.array([...filter.subjectIds], 'text')})
      )
      and a.created_at >= coalesce(${filter.since}::timestamptz, '-infinity')
      and a.created_at <= coalesce(${filter.until}::timestamptz, 'infinity')
    order by a.ordinal desc
    limit ${filter.limit}
  `)
}
