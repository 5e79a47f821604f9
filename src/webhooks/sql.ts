import { z } from 'zod'
import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ClaimedDelivery } from './record.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import type { Outcome } from './record.ts'

/** A claimed delivery; statements ignore those whose lane the worker no longer holds. */
export type Lease = { merchant_id: string; delivery_id: string; epoch: number }

/** The result of an attempt to record. */
export type AttemptRow = Lease & {
  attempt: number
  status: DeliveryStatus
  outcome: Outcome
  http_status: number | null
  /** The beginning of the response body, as text. */
  response_body: string | null
  /**
   * Milliseconds since the attempt began: absolute times come from the database, because the clocks of workers differ.
   */
  age_ms: number
  duration_ms: number
  /** Delay until the next attempt; null without one. */
  delay_ms: number | null
}

const Count = z.strictObject({ count: z.int() })

export type Claim = {
  worker: string
  after: string
  rowsMax: number
  perMerchantMax: number
  leaseMs: number
  /** The lanes that the worker holds, with the number of its rows of each, and these rows. */
  held: { merchants: readonly string[]; counts: readonly number[]; rows: readonly string[] }
  /** Merchants of which nothing is read. */
  skipped?: readonly string[]
}

/** Reads due rows and takes their lanes, fairly between merchants (migrations/functions/claim_webhooks.sql). */
export function claimDeliveries(tx: CommonQueryMethods, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  const { merchants, counts, rows } = claim.held
  return tx.any(sql.prepared('claim_webhooks', ClaimedDelivery)`
    select merchant_id, delivery_id, epoch, lease_ms, leases_lost, event_id, attempt_count, payload, webhook_url,
      webhook_signing_secret, webhook_secret_previous, traceparent
    from claim_webhooks(
      ${claim.worker}, ${claim.after}::uuid, ${claim.rowsMax}::int4, ${claim.perMerchantMax}::int4,
      make_interval(secs => ${claim.leaseMs}::float8 / 1000),
      ${sql.array([...merchants], 'uuid')}, ${sql.array([...counts], 'int4')}, ${sql.array([...rows], 'uuid')},
      ${sql.array([...(claim.skipped ?? [])], 'uuid')}
    )`)
}

/** Releases the lanes of a worker that stops. */
export async function releaseLanes(
  tx: CommonQueryMethods,
  worker: string,
  merchants: readonly string[],
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update webhook_lanes
    set worker = null, locked_until = null
    where merchant_id = any (${sql.array([...merchants], 'uuid')}) and worker = ${worker}`)
}

/** Leases as rows `l` of a statement, as far as the worker still holds their lanes, which stay locked for it. */
export function heldLeases(worker: string, leases: readonly Lease[]) {
  const tuples = leases.map((lease) => [lease.merchant_id, lease.delivery_id, lease.epoch])
  return sql.fragment`(
    select r.merchant_id, r.delivery_id
    from ${sql.unnest(tuples, ['uuid', 'uuid', 'int4'])} as r (merchant_id, delivery_id, epoch)
    join webhook_lanes l on l.merchant_id = r.merchant_id and l.worker = ${worker} and l.epoch = r.epoch
    for share of l
  ) l`
}

/**
 * Records a batch of attempts in one statement: the attempt, its delivery's place in the queue, and the delivery itself
 * unless this was a first attempt that succeeded. Only rows whose lane the worker still holds are changed and counted.
 */
export function recordAttempts(
  tx: CommonQueryMethods,
  worker: string,
  rows: readonly AttemptRow[],
): Promise<z.infer<typeof Count>> {
  const bodies = rows.map((row) => row.response_body)
  return tx.one(sql.prepared('record_webhook_attempts', Count)`
    with result as materialized (
      select r.*, now() + r.delay_ms * interval '1 millisecond' as due_at
      from unnest(
        ${listOf(rows, 'merchant_id')}::uuid[], ${listOf(rows, 'delivery_id')}::uuid[], ${listOf(rows, 'epoch')}::int4[],
        ${listOf(rows, 'attempt')}::int2[], ${listOf(rows, 'status')}::text[], ${listOf(rows, 'outcome')}::text[],
        ${listOf(rows, 'http_status')}::int2[], ${listOf(rows, 'age_ms')}::int4[], ${listOf(rows, 'duration_ms')}::int4[],
        ${listOf(rows, 'delay_ms')}::int4[], ${sql.array(bodies, 'text')}
      ) as r (
        merchant_id, delivery_id, epoch, attempt, status, outcome, http_status, age_ms, duration_ms, delay_ms, response_body
      )
      -- Here, where it is found by its key: joined beside, each result would be compared with each lane.
      join webhook_lanes l on l.merchant_id = r.merchant_id and l.epoch = r.epoch and l.worker = ${worker}
      for share of l
    ),
    done as (
      delete from webhook_queue q
      using result r
      where r.due_at is null and q.merchant_id = r.merchant_id and q.delivery_id = r.delivery_id
      returning r.*, q.attempted
    ),
    waiting as (
      update webhook_queue q
      set due_at = r.due_at, attempted = true, leases_lost = 0
      from result r
      -- Due no more: a record whose answer was lost has been made, and is tried again.
      where r.due_at is not null and q.merchant_id = r.merchant_id and q.delivery_id = r.delivery_id and q.due_at <= now()
      returning r.*, true as attempted
    ),
    held as (
      select * from done union all select * from waiting
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
      where d.merchant_id = h.merchant_id and d.id = h.delivery_id and (h.attempted or h.status <> 'DELIVERED')
    ),
    attempt as (
      insert into webhook_attempts (
        merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status, response_body
      )
      select h.merchant_id, h.delivery_id, h.attempt, ${worker}, now() - h.age_ms * interval '1 millisecond', h.duration_ms,
        h.outcome, h.http_status, h.response_body
      from held h
    )
    select count(*)::int4 as count from held`)
}

/** A column of ids, numbers or words of closed lists as PostgreSQL writes an array: none of them has to be quoted. */
function listOf(rows: readonly AttemptRow[], column: Exclude<keyof AttemptRow, 'response_body'>): string {
  return `{${rows.map((row) => row[column] ?? 'null').join(',')}}`
}

/**
 * Delays up to `rowsMax` due rows of the lease's merchant but for those of `except`, which can't be sent now through no
 * fault of the merchant: no attempt is counted.
 */
export function postponeDue(
  tx: CommonQueryMethods,
  worker: string,
  lease: Lease,
  { seconds, rowsMax, except }: { seconds: number; rowsMax: number; except: readonly string[] },
): Promise<z.infer<typeof Count>> {
  return tx.one(sql.type(Count)`
    with postponed as (
      update webhook_queue q
      set due_at = now() + make_interval(secs => ${seconds})
      where q.ctid = any (
        array(
          select c.ctid
          from ${heldLeases(worker, [lease])}
          join webhook_queue c on c.merchant_id = l.merchant_id and c.due_at <= now()
          where c.delivery_id <> all (${sql.array([...except], 'uuid')})
          order by c.due_at, c.sequence
          limit ${rowsMax}
        )
      )
      returning q.merchant_id, q.delivery_id, q.due_at
    ),
    delivery as (
      update webhook_deliveries d
      set next_retry_at = p.due_at
      from postponed p
      where d.merchant_id = p.merchant_id and d.id = p.delivery_id
    )
    select count(*)::int4 as count from postponed`)
}
