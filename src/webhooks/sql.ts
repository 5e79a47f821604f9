import { z } from 'zod'
import type { QuerySqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { ClaimedDelivery, DeliveryRecord } from './record.ts'
import type { DeliveryStatus } from '../wire/portal.ts'
import type { Outcome } from './record.ts'

type Query<T extends z.ZodType> = QuerySqlToken<T>

/** A lease that was claimed; what does not hold it any more changes nothing. */
export type Lease = { merchant_id: string; delivery_id: string; claim_count: number }

/** What became of an attempt, as it is recorded. */
export type AttemptRow = Lease & {
  attempt: number
  status: DeliveryStatus
  outcome: Outcome
  http_status: number | null
  /** Milliseconds since the attempt began: times are the database's, for the clocks of workers differ. */
  age_ms: number
  duration_ms: number
  /** Until the next attempt; null when there is none. */
  delay_ms: number | null
}

const Recorded = z.strictObject({ delivery_id: z.uuid() })
const Count = z.strictObject({ count: z.int() })
const Armed = z.strictObject({ created_at: z.string(), id: z.uuid() })
const Endpoint = z.strictObject({ webhook_url: z.string().nullable() })

const recordColumns = sql.fragment`
  d.id, d.event_id, d.event_type, d.payment_intent_id, d.status, d.last_http_status, d.last_error, d.attempt_count,
  nullif(d.next_retry_at, 'infinity') as next_retry_at, d.delivered_at, d.created_at`

type Claim = { worker: string; after: string; rowsMax: number; perMerchantMax: number; leaseMs: number }

/** Leases due rows, fairly between merchants (migrations/0005_webhooks.sql). */
export function claimDeliveries(claim: Claim): Query<typeof ClaimedDelivery> {
  return sql.prepared('claim_webhooks', ClaimedDelivery)`
    select merchant_id, delivery_id, claim_count, leases_lost, event_id, attempt_count, payload, webhook_url,
      webhook_signing_secret
    from claim_webhooks(
      ${claim.worker}, ${claim.after}::uuid, ${claim.rowsMax}::int4, ${claim.perMerchantMax}::int4,
      make_interval(secs => ${claim.leaseMs}::float8 / 1000)
    )`
}

/**
 * Records a batch of attempts in one statement: the delivery, its attempt, and its place in the queue. Only rows whose
 * lease is still the worker's own are touched; the ones that were are returned.
 */
export function recordAttempts(worker: string, rows: readonly AttemptRow[]): Query<typeof Recorded> {
  const tuples = rows.map((row) => [
    row.merchant_id,
    row.delivery_id,
    row.claim_count,
    row.attempt,
    row.status,
    row.outcome,
    row.http_status,
    row.age_ms,
    row.duration_ms,
    row.delay_ms,
  ])
  const types = ['uuid', 'uuid', 'int4', 'int2', 'text', 'text', 'int2', 'int4', 'int4', 'int4']
  return sql.prepared('record_webhook_attempts', Recorded)`
    with held as (
      select r.*, now() + r.delay_ms * interval '1 millisecond' as due_at
      from ${sql.unnest(tuples, types)} as r (
        merchant_id, delivery_id, claim_count, attempt, status, outcome, http_status, age_ms, duration_ms, delay_ms
      )
      join webhook_queue q on q.merchant_id = r.merchant_id and q.delivery_id = r.delivery_id
      where q.locked_by = ${worker} and q.claim_count = r.claim_count
      for update of q
    ),
    done as (
      delete from webhook_queue q
      using held h
      where q.merchant_id = h.merchant_id and q.delivery_id = h.delivery_id and h.due_at is null
    ),
    waiting as (
      update webhook_queue q
      set due_at = h.due_at, attempted = true, locked_until = null, locked_by = null, leases_lost = 0
      from held h
      where q.merchant_id = h.merchant_id and q.delivery_id = h.delivery_id and h.due_at is not null
    ),
    delivery as (
      update webhook_deliveries d
      set status = h.status::webhook_delivery_status,
        attempt_count = h.attempt,
        next_retry_at = coalesce(h.due_at, 'infinity'),
        last_http_status = h.http_status,
        last_error = nullif(h.outcome, 'delivered'),
        delivered_at = case when h.status = 'DELIVERED' then now() end
      from held h
      where d.merchant_id = h.merchant_id and d.id = h.delivery_id
    )
    insert into webhook_attempts (
      merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status
    )
    select h.merchant_id, h.delivery_id, h.attempt, ${worker}, now() - h.age_ms * interval '1 millisecond', h.duration_ms,
      h.outcome, h.http_status
    from held h
    returning delivery_id`
}

function leaseTuples(leases: readonly Lease[]) {
  const tuples = leases.map((lease) => [lease.merchant_id, lease.delivery_id, lease.claim_count])
  return sql.fragment`${sql.unnest(tuples, ['uuid', 'uuid', 'int4'])} as l (merchant_id, delivery_id, claim_count)`
}

/** Gives rows back that were claimed and not started: they are due at once, for any worker. */
export function releaseLeases(worker: string, leases: readonly Lease[]) {
  return sql.typeAlias('void')`
    update webhook_queue q
    set locked_until = null, locked_by = null
    from ${leaseTuples(leases)}
    where q.merchant_id = l.merchant_id
      and q.delivery_id = l.delivery_id
      and q.locked_by = ${worker}
      and q.claim_count = l.claim_count`
}

/** Gives a row back that can't be sent now through no fault of its merchant: no attempt counts, and it waits a while. */
export function postponeLease(worker: string, lease: Lease, seconds: number) {
  return sql.typeAlias('void')`
    with postponed as (
      update webhook_queue q
      set locked_until = null, locked_by = null, due_at = now() + make_interval(secs => ${seconds})
      from ${leaseTuples([lease])}
      where q.merchant_id = l.merchant_id
        and q.delivery_id = l.delivery_id
        and q.locked_by = ${worker}
        and q.claim_count = l.claim_count
      returning q.merchant_id, q.delivery_id, q.due_at
    )
    update webhook_deliveries d
    set next_retry_at = p.due_at
    from postponed p
    where d.merchant_id = p.merchant_id and d.id = p.delivery_id`
}

/** Takes claimed rows of a merchant without an endpoint out of the queue, to wait for one. */
export function parkLeases(worker: string, leases: readonly Lease[]): Query<typeof Count> {
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
    parked as (
      update webhook_deliveries d
      set next_retry_at = 'infinity'
      from gone g
      where d.merchant_id = g.merchant_id and d.id = g.delivery_id
    )
    select count(*)::int4 as count from gone`
}

/** The merchant's endpoint, which stays as it is until the transaction ends. */
export function holdEndpoint(merchantId: string): Query<typeof Endpoint> {
  return sql.type(Endpoint)`select webhook_url from merchants where id = ${merchantId}::uuid for key share`
}

/** The same, locked against everything that refers to the merchant: no delivery is inserted until the transaction ends. */
export function lockEndpoint(merchantId: string): Query<typeof Endpoint> {
  return sql.type(Endpoint)`select webhook_url from merchants where id = ${merchantId}::uuid for update`
}

export function findEndpoint(merchantId: string): Query<typeof Endpoint> {
  return sql.type(Endpoint)`select webhook_url from merchants where id = ${merchantId}::uuid`
}

export function updateEndpoint(merchantId: string, webhookUrl: string | null) {
  return sql.typeAlias('void')`
    update merchants set webhook_url = ${webhookUrl}, updated_at = now() where id = ${merchantId}::uuid`
}

/** Arms the next `size` waiting rows that are younger than seven days, the oldest first, behind the row `behind`. */
export function armWaiting(merchantId: string, behind: z.infer<typeof Armed>, size: number): Query<typeof Armed> {
  return sql.type(Armed)`
    with waiting as (
      select d.merchant_id, d.id
      from webhook_deliveries d
      where d.merchant_id = ${merchantId}::uuid
        and d.created_at >= now() - interval '7 days'
        and (d.created_at, d.id) > (${behind.created_at}::timestamptz, ${behind.id}::uuid)
        and d.next_retry_at = 'infinity'
        and d.status in ('PENDING', 'FAILED')
      order by d.created_at, d.id
      limit ${size}
      for update
    ),
    armed as (
      update webhook_deliveries d
      set next_retry_at = now()
      from waiting w
      where d.merchant_id = w.merchant_id and d.id = w.id
      returning d.merchant_id, d.id, d.payment_intent_id, d.sequence, d.attempt_count, d.created_at
    ),
    queued as (
      insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at, attempted)
      select a.merchant_id, a.id, a.payment_intent_id, a.sequence, now(), a.attempt_count > 0
      from armed a
      on conflict do nothing
    )
    select a.created_at::text as created_at, a.id from armed a order by a.created_at, a.id`
}

/** Takes up to `size` queued rows of the merchant that no worker holds out of the queue, to wait for an endpoint. */
export function disarmQueued(merchantId: string, size: number): Query<typeof Count> {
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
    parked as (
      update webhook_deliveries d
      set next_retry_at = 'infinity'
      from gone g
      where d.merchant_id = g.merchant_id and d.id = g.delivery_id
    )
    select count(*)::int4 as count from gone`
}

export type DeliveryFilter = { merchantId: string; status?: DeliveryStatus | undefined; paymentId?: string | undefined }

/** The merchant's last `size` deliveries, the newest first. */
export function listDeliveries(filter: DeliveryFilter, size: number): Query<typeof DeliveryRecord> {
  const status =
    filter.status === undefined
      ? sql.fragment``
      : sql.fragment`and d.status = ${filter.status}::webhook_delivery_status`
  const payment =
    filter.paymentId === undefined ? sql.fragment`` : sql.fragment`and d.payment_intent_id = ${filter.paymentId}::uuid`
  return sql.type(DeliveryRecord)`
    select ${recordColumns}
    from webhook_deliveries d
    where d.merchant_id = ${filter.merchantId}::uuid ${status} ${payment}
    order by d.created_at desc, d.id desc
    limit ${size}`
}

export function findDelivery(merchantId: string, id: string): Query<typeof DeliveryRecord> {
  return sql.type(DeliveryRecord)`
    select ${recordColumns} from webhook_deliveries d where d.merchant_id = ${merchantId}::uuid and d.id = ${id}::uuid`
}

/**
 * Queues a DEAD delivery again from its first attempt, or a waiting one that no endpoint has armed as it stands. No
 * row when it is neither. `armed` says whether the merchant has an endpoint.
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
      where d.next_retry_at < 'infinity'
    )
    select ${recordColumns} from d`
}
