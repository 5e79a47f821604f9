import { sql } from './sql.ts'

/**
 * Whether no worker has the webhooks of merchant `m` in hand. The lane of one whose endpoint hangs is held, and late because of
 * it alone: another worker could not help.
 */
export const hasNoWorker = sql.fragment`
  not exists (select from webhook_lanes l where l.merchant_id = m.id and l.locked_until > now())`

/**
 * Since when the oldest webhook is due that no worker has in hand; null where none is queued. One probe for each merchant,
 * however many rows it has.
 */
export const oldestLateWebhook = sql.fragment`
  with recursive merchant (id) as (
    (select merchant_id from webhook_queue order by merchant_id limit 1)
    union all
    select (select q.merchant_id from webhook_queue q where q.merchant_id > m.id order by q.merchant_id limit 1)
    from merchant m
    where m.id is not null
  )
  select min(oldest.due_at)
  from merchant m
  cross join lateral (
    select q.due_at from webhook_queue q where q.merchant_id = m.id order by q.due_at, q.sequence limit 1
  ) oldest
  where ${hasNoWorker}
`
