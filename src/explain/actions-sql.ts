import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import type { Subject, TimelineQuery } from './record.ts'

/** How far back in a merchant's audit trail is looked. */
const ACTIONS_READ_MAX = 500

/** The actions on a merchant that each timeline shows; on a delivery's there is whatever was done to itself, too. */
const ACTIONS: Readonly<Record<Subject['kind'], readonly string[]>> = {
  payment: ['merchant.kyb', 'merchant.hold', 'merchant.active', 'sandbox.clock'],
  delivery: ['webhook.endpoint', 'webhook.replay_many', 'sandbox.clock'],
  dispute: [],
  merchant: [
    'merchant.kyb',
    'merchant.hold',
    'merchant.active',
    'merchant.fees',
    'webhook.endpoint',
    'webhook.replay_many',
    'webhook_secret.rotate',
    'webhook_secret.end_overlap',
    'bank_account.add',
    'bank_account.disable',
    'checkout_origins.set',
    'branding.set',
    'sandbox.clock',
  ],
}

/** Whether the last KYB decision on the merchant `m` rejected it. */
export const wasRejected = sql.fragment`
  coalesce((
    select a.before ->> 'kyb_status' = 'PENDING' and a.after ->> 'kyb_status' = 'SUSPENDED'
    from (select * from operator_actions where merchant_id = m.id order by ordinal desc limit ${ACTIONS_READ_MAX}) a
    where a.action = 'merchant.kyb'
    order by a.ordinal desc
    limit 1
  ), false)`

/** What operators and the merchant's own people did; `from` and `to` are the one member that the action changed. */
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
          a.action = any(${sql.array([...ACTIONS[subject.kind]], 'text')})
          or ${subject.kind} = 'delivery' and a.subject_id = ${subject.id}
        )
        and a.created_at >= coalesce(${since}::timestamptz, '-infinity')
        and a.created_at <= coalesce(${until}::timestamptz, 'infinity')
      order by a.ordinal desc
      limit ${limits.action + 1}
    )`
}
