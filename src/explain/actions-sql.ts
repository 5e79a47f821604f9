import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { actionsOn } from './actions.ts'
import type { TimelineQuery } from './record.ts'

/** How many of a merchant's newest actions are read. */
const ACTIONS_READ_MAX = 500

/** Whether the last KYB decision on the merchant `m` rejected it. */
export const wasRejected = sql.fragment`
  coalesce((
    select a.before ->> 'kyb_status' = 'PENDING' and a.after ->> 'kyb_status' = 'SUSPENDED'
    from (select * from operator_actions where merchant_id = m.id order by ordinal desc limit ${ACTIONS_READ_MAX}) a
    where a.action = 'merchant.kyb'
    order by a.ordinal desc
    limit 1
  ), false)`

/** The actions of operators and of the merchant's team; `from` and `to` are the values of the member that changed. */
export function actionRows({ subject, limits, since, until }: TimelineQuery): FragmentSqlToken {
  const member = sql.fragment`
    case a.action
      when 'merchant.kyb' then 'kyb_status'
      when 'merchant.hold' then 'payout_held'
      when 'merchant.active' then 'is_active'
      when 'webhook.endpoint' then 'paused'
      when 'sandbox.clock' then 'advance_ms'
    end`
  return sql.fragment`
    (
      select 'action', a.created_at, a.before ->> ${member}, a.after ->> ${member}, a.actor_name, null::uuid,
        row_number() over (order by a.ordinal desc),
        jsonb_build_object(
          'action', a.action, 'role', a.actor_role, 'reason', a.reason,
          'had_endpoint', a.before ->> 'webhook_url' is not null,
          'has_endpoint', a.after ->> 'webhook_url' is not null
        )
      from (
        select * from operator_actions
        where merchant_id = ${subject.merchant_id}
        order by ordinal desc
        limit ${ACTIONS_READ_MAX}
      ) a
      where (
          a.action = any(${sql.array(actionsOn(subject.kind), 'text')})
          or ${subject.kind} = 'delivery' and a.subject_id = ${subject.id}
        )
        and a.created_at >= coalesce(${since}::timestamptz, '-infinity')
        and a.created_at <= coalesce(${until}::timestamptz, 'infinity')
      order by a.ordinal desc
      limit ${limits.action + 1}
    )`
}
