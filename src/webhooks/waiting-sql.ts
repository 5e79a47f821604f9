import type { FragmentSqlToken, QuerySqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Lease } from './sql.ts'
import { leaseTuples } from './sql.ts'

type Query<T extends z.ZodType> = QuerySqlToken<T>

/*
 * Deliveries that wait for an endpoint stand in webhook_parked, and in the queue no more. They are parked while the
 * merchant's row is held without an address, and armed while it is held with one: the two never meet.
 */

const Count = z.strictObject({ count: z.int() })
const Merchant = z.strictObject({ merchant_id: z.uuid() })

/** What waited longer stays parked; its merchant can still replay each one (decision 38). */
const YOUNG = sql.fragment`now() - interval '7 days'`

/** Further parts of a statement whose part `gone` has taken rows out of the queue: they wait at 'infinity' now. */
function moveGoneToWaiting(): FragmentSqlToken {
  return sql.fragment`
    waiting as (
      update webhook_deliveries d
      set next_retry_at = 'infinity'
      from gone g
      where d.merchant_id = g.merchant_id and d.id = g.delivery_id
      returning d.merchant_id, d.id, d.created_at
    ),
    parked as (
      insert into webhook_parked (merchant_id, delivery_id, created_at)
      select w.merchant_id, w.id, w.created_at from waiting w
      on conflict do nothing
    )`
}

/** Takes claimed rows of a merchant without an endpoint out of the queue, to wait for one. */
export function moveLeasesToWaiting(worker: string, leases: readonly Lease[]): Query<typeof Count> {
  return sql.type(Count)`
    with gone as (
      delete from webhook_queue q
      using ${leaseTuples(leases)}
      where q.merchant_id = l.merchant_id
        and q.delivery_id = l.delivery_id
        and q.locked_by = ${worker}
        and q.claim_count = l.claim_count
      returning q.merchant_id, q.delivery_id
    ),
    ${moveGoneToWaiting()}
    select count(*)::int4 as count from gone`
}

/** Takes up to `size` queued rows of the merchant that no worker holds out of the queue, to wait for an endpoint. */
export function moveQueuedToWaiting(merchantId: string, size: number): Query<typeof Count> {
  return sql.type(Count)`
    with gone as (
      delete from webhook_queue q
      where q.ctid = any (
        array(
          select c.ctid
          from webhook_queue c
          where c.merchant_id = ${merchantId}::uuid and (c.locked_until is null or c.locked_until <= now())
          limit ${size}
          for update skip locked
        )
      )
      returning q.merchant_id, q.delivery_id
    ),
    ${moveGoneToWaiting()}
    select count(*)::int4 as count from gone`
}

/** Merchants with an endpoint that have something young parked, one probe for each merchant that has anything parked. */
export function findSchedulable(size: number): Query<typeof Merchant> {
  return sql.type(Merchant)`
    with recursive parked (id) as (
      (select p.merchant_id from webhook_parked p order by p.merchant_id limit 1)
      union all
      select (select p.merchant_id from webhook_parked p where p.merchant_id > k.id order by p.merchant_id limit 1)
      from parked k
      where k.id is not null
    )
    select m.id as merchant_id
    from parked k
    join merchants m on m.id = k.id
    where m.webhook_url is not null
      and exists (select from webhook_parked p where p.merchant_id = m.id and p.created_at >= ${YOUNG})
    limit ${size}`
}

/**
 * Arms the `size` oldest of the merchant's parked deliveries that are younger than seven days, and counts what it took.
 * Within a transaction that holds the endpoint against others that queue (endpoint-sql.ts, holdForQueueing), so that
 * no later batch is queued before an earlier one.
 */
export function scheduleWaiting(merchantId: string, size: number): Query<typeof Count> {
  return sql.type(Count)`
    with taken as (
      delete from webhook_parked p
      -- By their place: the planner can't know how few they are, and would read all that is parked.
      where p.ctid = any (
        array(
          select y.ctid
          from webhook_parked y
          where y.merchant_id = ${merchantId}::uuid and y.created_at >= ${YOUNG}
          order by y.created_at, y.delivery_id
          limit ${size}
        )
      )
      returning p.merchant_id, p.delivery_id
    ),
    armed as (
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
      select a.merchant_id, a.id, a.payment_intent_id, a.sequence, now(), a.attempt_count > 0
      from armed a
      on conflict do nothing
    )
    select count(*)::int4 as count from taken`
}
