import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Lease } from './sql.ts'
import { heldLeases } from './sql.ts'

/*
 * Deliveries that wait for an endpoint are in webhook_waiting instead of webhook_queue. They are moved there while the
 * merchant's row is locked without an address, and scheduled while it is locked with one, so the two never run
 * concurrently.
 */

const Count = z.strictObject({ count: z.int() })
const Merchant = z.strictObject({ merchant_id: z.uuid() })

/** Rows per transaction: a week of a merchant's deliveries may be waiting, and locks must be short. */
export const WAITING_BATCH_ROWS = 1_000

/** Older deliveries keep waiting; the merchant can still replay each one (decision 38). */
const YOUNG = sql.fragment`now() - interval '7 days'`

/**
 * Further CTEs of a statement whose CTE `gone` has deleted rows from the queue: inserts them into webhook_waiting, with
 * their next retry at 'infinity'.
 */
function moveGoneToWaiting(): FragmentSqlToken {
  return sql.fragment`
    postponed as (
      update webhook_deliveries d
      set next_retry_at = 'infinity'
      from gone g
      where d.merchant_id = g.merchant_id and d.id = g.delivery_id
      returning d.merchant_id, d.id, d.created_at
    ),
    waiting as (
      insert into webhook_waiting (merchant_id, delivery_id, created_at)
      select p.merchant_id, p.id, p.created_at from postponed p
      on conflict do nothing
    )`
}

/** Moves claimed rows of a merchant without an endpoint from the queue to the waiting deliveries. */
export function moveLeasesToWaiting(
  tx: CommonQueryMethods,
  worker: string,
  leases: readonly Lease[],
): Promise<z.infer<typeof Count>> {
  return tx.one(sql.type(Count)`
    with gone as (
      delete from webhook_queue q
      using ${heldLeases(worker, leases)}
      where q.merchant_id = l.merchant_id and q.delivery_id = l.delivery_id
      returning q.merchant_id, q.delivery_id
    ),
    ${moveGoneToWaiting()}
    select count(*)::int4 as count from gone`)
}

/**
 * Moves up to `size` rows of the merchant from the queue to the waiting deliveries, unless a worker holds its lane: that
 * one moves them itself, and may be sending some.
 */
export function moveQueuedToWaiting(
  tx: CommonQueryMethods,
  merchantId: string,
  size: number,
): Promise<z.infer<typeof Count>> {
  return tx.one(sql.type(Count)`
    with lane as (
      -- Locked until the transaction ends, so that no worker takes it meanwhile.
      insert into webhook_lanes as l (merchant_id) values (${merchantId}::uuid)
      on conflict (merchant_id) do update set epoch = l.epoch + 1, worker = null, locked_until = null
      where l.locked_until is null or l.locked_until <= now()
      returning merchant_id
    ),
    gone as (
      delete from webhook_queue q
      where q.ctid = any (
        array(
          select c.ctid
          from webhook_queue c
          where c.merchant_id = (select merchant_id from lane)
          limit ${size}
          for update skip locked
        )
      )
      returning q.merchant_id, q.delivery_id
    ),
    ${moveGoneToWaiting()}
    select count(*)::int4 as count from gone`)
}

/** The first merchants behind `after` that have an endpoint and young waiting deliveries: an index probe for each that has any. */
export function findSchedulable(
  tx: CommonQueryMethods,
  { after, limit }: { after: string; limit: number },
): Promise<readonly z.infer<typeof Merchant>[]> {
  return tx.any(sql.type(Merchant)`
    with recursive waiting (id) as (
      (
        select w.merchant_id from webhook_waiting w where w.merchant_id > ${after}::uuid order by w.merchant_id limit 1
      )
      union all
      select (select w.merchant_id from webhook_waiting w where w.merchant_id > k.id order by w.merchant_id limit 1)
      from waiting k
      where k.id is not null
    )
    select m.id as merchant_id
    from waiting k
    join merchants m on m.id = k.id
    where m.webhook_url is not null
      and exists (select from webhook_waiting w where w.merchant_id = m.id and w.created_at >= ${YOUNG})
    order by m.id
    limit ${limit}`)
}

/**
 * Schedules the `size` oldest of the merchant's waiting deliveries that are younger than seven days, and counts them.
 * Runs in a transaction that locks the endpoint for queueing (endpoint-sql.ts, lockForQueueing), so that no later batch
 * is queued before an earlier one.
 */
export function scheduleWaiting(
  tx: CommonQueryMethods,
  merchantId: string,
  size: number,
): Promise<z.infer<typeof Count>> {
  return tx.one(sql.type(Count)`
    with taken as (
      delete from webhook_waiting w
      -- By ctid: the planner can't know how few they are, and would read the whole table.
      where w.ctid = any (
        array(
          select y.ctid
          from webhook_waiting y
          where y.merchant_id = ${merchantId}::uuid and y.created_at >= ${YOUNG}
          order by y.created_at, y.delivery_id
          limit ${size}
        )
      )
      returning w.merchant_id, w.delivery_id
    ),
    scheduled as (
      update webhook_deliveries d
      set next_retry_at = now()
      from taken t
      where d.merchant_id = t.merchant_id
        and d.id = t.delivery_id
        and d.status in ('PENDING', 'FAILED')
        and d.next_retry_at = 'infinity'
      returning d.merchant_id, d.id, d.payment_intent_id, d.sequence, d.attempt_count
    ),
    queued as (
      insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at, attempted)
      -- A replayed one, whose attempts are counted from one again, neither waits for other events nor delays them (replay-sql.ts).
      select s.merchant_id, s.id, s.payment_intent_id, s.sequence, now(),
        s.attempt_count > 0
          or exists (select from webhook_attempts a where a.merchant_id = s.merchant_id and a.delivery_id = s.id)
      from scheduled s
      on conflict do nothing
    )
    select count(*)::int4 as count from taken`)
}
