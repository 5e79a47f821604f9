import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { recordColumns } from './log-sql.ts'
import { DeliveryRecord } from './record.ts'

/**
 * Queues a DEAD delivery again from its first attempt, or a waiting one with its attempts kept. Returns no row for any
 * other. `isScheduled` says whether the merchant has an endpoint: without one, a DEAD delivery waits for an endpoint.
 */
export function replayDelivery(
  tx: CommonQueryMethods,
  merchantId: string,
  id: string,
  isScheduled: boolean,
): Promise<DeliveryRecord | null> {
  return tx.maybeOne(sql.type(DeliveryRecord)`
    with d as (
      update webhook_deliveries d
      set status = case d.status when 'DEAD' then 'PENDING' else d.status end,
        attempt_count = case d.status when 'DEAD' then 0 else d.attempt_count end,
        next_retry_at = case when ${isScheduled} then now() else 'infinity' end
      where d.merchant_id = ${merchantId}::uuid
        and d.id = ${id}::uuid
        and (d.status = 'DEAD' or (${isScheduled} and d.status in ('PENDING', 'FAILED') and d.next_retry_at = 'infinity'))
      returning d.*
    ),
    queued as (
      -- As already attempted: a replay neither waits for the payment's other events nor delays them.
      insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at, attempted)
      select d.merchant_id, d.id, d.payment_intent_id, d.sequence, d.next_retry_at, true
      from d
      where ${isScheduled}
    ),
    waiting as (
      insert into webhook_waiting (merchant_id, delivery_id, created_at)
      select d.merchant_id, d.id, d.created_at from d where not ${isScheduled}
    ),
    released as (
      delete from webhook_waiting w using d where ${isScheduled} and w.merchant_id = d.merchant_id and w.delivery_id = d.id
    )
    select ${recordColumns} from d`)
}

/** A filter of a merchant's DEAD deliveries. Omitted members do not restrict it. */
export type DeadFilter = {
  merchantId: string
  eventType?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

function deadOf({ merchantId, eventType, since, until }: DeadFilter) {
  const conditions = [sql.fragment`d.merchant_id = ${merchantId}::uuid and d.status = 'DEAD'`]
  if (eventType !== undefined) conditions.push(sql.fragment`d.event_type = ${eventType}`)
  if (since !== undefined) conditions.push(sql.fragment`d.created_at >= ${since}::timestamptz`)
  if (until !== undefined) conditions.push(sql.fragment`d.created_at < ${until}::timestamptz`)
  return sql.join(conditions, sql.fragment` and `)
}

const Count = z.strictObject({ count: z.int() })

/** The number of matches, counted up to `max`. */
export function countDead(tx: CommonQueryMethods, filter: DeadFilter, max: number): Promise<z.infer<typeof Count>> {
  return tx.one(sql.type(Count)`
    select count(*)::int4 as count
    from (
      select from webhook_deliveries d where ${deadOf(filter)} order by d.created_at, d.id limit ${max}
    ) counted`)
}

/** The position after which the next batch begins. */
export type ReplayPosition = { created_at: string; id: string }
const Replayed = z.strictObject({ created_at: z.string(), id: z.uuid() })

export type Pace = { atOnce: number; perSecond: number }

/**
 * Queues the next `size` DEAD deliveries after `behind`, oldest first, each from its first attempt: the first ones now
 * and the rest at a limited rate, after those of an earlier replay. Runs in a transaction that locks the endpoint
 * (endpoint-sql.ts, lockForQueueing).
 */
export function replayDead(
  tx: CommonQueryMethods,
  filter: DeadFilter,
  { behind, size, pace }: { behind: ReplayPosition; size: number; pace: Pace },
): Promise<readonly z.infer<typeof Replayed>[]> {
  return tx.any(sql.type(Replayed)`
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
      -- As in replayDelivery: a replay neither waits for the payment's other events nor delays them.
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
    select r.created_at::text as created_at, r.id from replayed r order by r.created_at, r.id`)
}
