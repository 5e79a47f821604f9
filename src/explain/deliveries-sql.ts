import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ToldAttempt, ToldDelivery } from './record.ts'

const columns = sql.fragment`
  d.id, d.merchant_id, d.payment_intent_id as payment_id, d.event_id, d.event_type, d.status, d.attempt_count,
  d.last_error, nullif(d.next_retry_at, 'infinity') as next_retry_at, d.delivered_at, d.created_at,
  d.payment_intent_id is null and d.event_type not like 'consent.%'
    and coalesce(d.payload #>> '{data,test}' = 'true', false) as is_test,
  coalesce(q.locked_until > now(), false) as is_leased,
  case when q.attempted = false then (
    select w.event_type
    from webhook_queue e
    join webhook_deliveries w on w.merchant_id = e.merchant_id and w.id = e.delivery_id
    where e.merchant_id = q.merchant_id and e.payment_intent_id = q.payment_intent_id and e.sequence < q.sequence
      and not e.attempted
    order by e.sequence
    limit 1
  ) end as waits_for,
  m.webhook_url is not null as has_endpoint, m.paused_webhook_url is not null as is_paused, now() as now
`

const tables = sql.fragment`
  webhook_deliveries d
  join merchants m on m.id = d.merchant_id
  left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
`

export function findDelivery(
  tx: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<ToldDelivery | null> {
  return tx.maybeOne(sql.type(ToldDelivery)`
    select ${columns} from ${tables} where d.merchant_id = ${merchantId} and d.id = ${id}
  `)
}

/** What a payment has told its merchant, the newest first; of one dispute only where that is named. */
export function listDeliveries(
  tx: CommonQueryMethods,
  input: { merchantId: string; paymentId: string; disputeId?: string | undefined; limit: number },
): Promise<readonly ToldDelivery[]> {
  const ofDispute =
    input.disputeId === undefined
      ? sql.fragment``
      : sql.fragment`and d.event_type like 'dispute.%' and d.payload #>> '{data,id}' = ${input.disputeId}`
  return tx.any(sql.type(ToldDelivery)`
    select ${columns}
    from ${tables}
    where d.merchant_id = ${input.merchantId} and d.payment_intent_id = ${input.paymentId} ${ofDispute}
    order by d.created_at desc, d.sequence desc
    limit ${input.limit}
  `)
}

/** The last attempts of each of these deliveries, at most `each` of them, in the order in which they were made. */
export function listAttempts(
  tx: CommonQueryMethods,
  { merchantId, deliveryIds, each }: { merchantId: string; deliveryIds: readonly string[]; each: number },
): Promise<readonly ToldAttempt[]> {
  return tx.any(sql.type(ToldAttempt)`
    select a.delivery_id, a.attempt, a.outcome, a.http_status, a.duration_ms, a.started_at
    from ${sql.unnest(
      deliveryIds.map((id) => [id]),
      ['uuid'],
    )} as wanted (id)
    cross join lateral (
      select id, delivery_id, attempt, outcome, http_status, duration_ms, started_at
      from webhook_attempts
      where merchant_id = ${merchantId} and delivery_id = wanted.id
      order by webhook_attempts.id desc
      limit ${each}
    ) a
    order by a.id
  `)
}
