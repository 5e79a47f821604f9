import type { QuerySqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { recordColumns } from './log-sql.ts'
import { DeliveryRecord } from './record.ts'

type Query<T extends z.ZodType> = QuerySqlToken<T>

/**
 * Queues a DEAD delivery again from its first attempt, or a waiting one that no endpoint has armed as it stands. No
 * row when it is neither. `armed` says whether the merchant has an endpoint: without one, the DEAD one waits parked.
 */
export function replayDelivery(merchantId: string, id: string, armed: boolean): Query<typeof DeliveryRecord> {
  return sql.type(DeliveryRecord)`
    with d as (
      update webhook_deliveries d
      set status = case d.status when 'DEAD' then 'PENDING' else d.status end,
        attempt_count = case d.status when 'DEAD' then 0 else d.attempt_count end,
        next_retry_at = case when ${armed} then now() else 'infinity' end
      where d.merchant_id = ${merchantId}::uuid
        and d.id = ${id}::uuid
        and (d.status = 'DEAD' or (${armed} and d.status in ('PENDING', 'FAILED') and d.next_retry_at = 'infinity'))
      returning d.*
    ),
    queued as (
      -- As one that was attempted: what is sent by hand neither waits for the payment's other events nor holds them up.
      insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at, attempted)
      select d.merchant_id, d.id, d.payment_intent_id, d.sequence, d.next_retry_at, true
      from d
      where ${armed}
    ),
    parked as (
      insert into webhook_parked (merchant_id, delivery_id, created_at)
      select d.merchant_id, d.id, d.created_at from d where not ${armed}
    ),
    unparked as (
      delete from webhook_parked p using d where ${armed} and p.merchant_id = d.merchant_id and p.delivery_id = d.id
    )
    select ${recordColumns} from d`
}

/** DEAD deliveries of a merchant: which ones. Absent members leave nothing out. */
export type DeadFilter = {
  merchantId: string
  eventType?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

function deadOf({ merchantId, eventType, since, until }: DeadFilter) {
  const conditions = [
    // The error is how the index knows them (migrations/0018_webhook_deliveries.sql).
    sql.fragment`d.merchant_id = ${merchantId}::uuid and d.last_error is not null and d.status = 'DEAD'`,
  ]
  if (eventType !== undefined) conditions.push(sql.fragment`d.event_type = ${eventType}`)
  if (since !== undefined) conditions.push(sql.fragment`d.created_at >= ${since}::timestamptz`)
  if (until !== undefined) conditions.push(sql.fragment`d.created_at < ${until}::timestamptz`)
  return sql.join(conditions, sql.fragment` and `)
}

const Count = z.strictObject({ count: z.int() })

/** How many there are, counted up to `max`. */
export function countDead(filter: DeadFilter, max: number): Query<typeof Count> {
  return sql.type(Count)`
    select count(*)::int4 as count
    from (
      select from webhook_deliveries d where ${deadOf(filter)} order by d.created_at, d.id limit ${max}
    ) counted`
}

/** Where the next batch begins. */
export type ReplayPosition = { created_at: string; id: string }
const Replayed = z.strictObject({ created_at: z.string(), id: z.uuid() })

export type Pace = { atOnce: number; perSecond: number }

/**
 * Queues the next `size` DEAD deliveries behind `behind`, the oldest first, each from its first attempt: the first ones
 * at once and the rest at a pace, behind what an earlier replay has planned. Within a transaction that holds the
 * endpoint (endpoint-sql.ts, holdForQueueing).
 */
export function replayDead(
  filter: DeadFilter,
  { behind, size, pace }: { behind: ReplayPosition; size: number; pace: Pace },
): Query<typeof Replayed> {
  return sql.type(Replayed)`
    with dead as (
      select d.merchant_id, d.id, d.created_at
      from webhook_deliveries d
      where ${deadOf(filter)} and (d.created_at, d.id) > (${behind.created_at}::timestamptz, ${behind.id}::uuid)
      order by d.created_at, d.id
      limit ${size}
      for update
    ),
    placed as (
      select dead.*, row_number() over (order by created_at, id) as place from dead
    ),
    spread as (
      select p.merchant_id, p.id,
        case
          when m.webhook_replays_until > now() then m.webhook_replays_until + p.place * interval '1 second' / ${pace.perSecond}
          else now() + greatest(p.place - ${pace.atOnce}, 0) * interval '1 second' / ${pace.perSecond}
        end as due_at
      from placed p
      join merchants m on m.id = p.merchant_id
    ),
    replayed as (
      update webhook_deliveries d
      set status = 'PENDING', attempt_count = 0, next_retry_at = s.due_at
      from spread s
      where d.merchant_id = s.merchant_id and d.id = s.id
      returning d.merchant_id, d.id, d.payment_intent_id, d.sequence, d.next_retry_at, d.created_at
    ),
    queued as (
      -- As in replayDelivery: what is sent by hand neither waits for the payment's other events nor holds them up.
      insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at, attempted)
      select r.merchant_id, r.id, r.payment_intent_id, r.sequence, r.next_retry_at, true
      from replayed r
    ),
    planned as (
      update merchants m
      set webhook_replays_until = last.due_at
      from (select max(due_at) as due_at from spread) last
      where m.id = ${filter.merchantId}::uuid and last.due_at is not null
    )
    select r.created_at::text as created_at, r.id from replayed r order by r.created_at, r.id`
}
