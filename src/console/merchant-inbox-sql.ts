import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import type { Holidays } from '../lib/working-days.ts'
import { DEAD_DELIVERY_TIME, STOPPED_MERCHANT_TIME, kybDeadline } from './inbox-deadlines-sql.ts'

/** Inbox items about the merchant itself, for its own team: one fragment for each kind. */
export function merchantInboxItems(merchantId: string, holidays: Holidays): FragmentSqlToken[] {
  const own = sql.fragment`o.id = ${merchantId}::uuid`
  const item = (kind: string, since: FragmentSqlToken, due: FragmentSqlToken, when: FragmentSqlToken) => sql.fragment`
    select ${kind}::text as kind, o.id, o.id as merchant_id, 1 as count, ${since} as since, ${due} as due_at
    from merchants o
    where ${own} and ${when}`
  const suspendedAt = sql.fragment`coalesce(${lastDecision}, o.updated_at)`
  return [
    item(
      'kyb_pending',
      sql.fragment`o.created_at`,
      kybDeadline(sql.fragment`o.created_at`, holidays),
      sql.fragment`o.kyb_status = 'PENDING'`,
    ),
    item(
      'kyb_suspended',
      suspendedAt,
      sql.fragment`${suspendedAt} + ${STOPPED_MERCHANT_TIME}`,
      sql.fragment`o.kyb_status = 'SUSPENDED'`,
    ),
    item(
      'payouts_held',
      sql.fragment`o.payout_held_at`,
      sql.fragment`o.payout_held_at + ${STOPPED_MERCHANT_TIME}`,
      sql.fragment`o.payout_held`,
    ),
    item(
      'secret_overlap_ending',
      sql.fragment`coalesce(o.webhook_secret_rotated_at, o.updated_at)`,
      sql.fragment`o.webhook_secret_previous_expires_at`,
      sql.fragment`o.webhook_secret_previous_expires_at > now()`,
    ),
    goneEndpoint(own),
  ]
}

/** The time of the operators' last KYB decision on the merchant. */
const lastDecision = sql.fragment`(
  select a.created_at from operator_actions a
  where a.merchant_id = o.id and a.action = 'merchant.kyb'
  order by a.ordinal desc
  limit 1
)`

/** How many of the newest deliveries show whether the endpoint works again (webhooks/endpoint-sql.ts). */
const EXAMINED_DELIVERIES_MAX = 50

/** An endpoint whose last failure was a 410, without a delivery since. */
function goneEndpoint(own: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select 'webhook_endpoint_gone' as kind, o.id, o.id as merchant_id, 1 as count, f.started_at as since,
      f.started_at + ${DEAD_DELIVERY_TIME} as due_at
    from merchants o
    cross join lateral (
      select a.outcome, a.started_at from webhook_attempts a
      where a.merchant_id = o.id and a.outcome <> 'delivered'
      order by a.id desc
      limit 1
    ) f
    where ${own} and f.outcome = 'http_410' and f.started_at >= o.webhook_url_set_at
      and coalesce(o.webhook_url, o.paused_webhook_url) is not null
      and not exists (
        select from (
          select d.delivered_at from webhook_log d
          where d.merchant_id = o.id
          order by d.created_at desc, d.id desc
          limit ${EXAMINED_DELIVERIES_MAX}
        ) newest
        where newest.delivered_at > f.started_at
      )`
}
