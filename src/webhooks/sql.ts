import { z } from 'zod'
import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ClaimedDelivery } from './record.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import type { Outcome } from './record.ts'

/** A claimed lease; statements ignore leases that are no longer held. */
export type Lease = { merchant_id: string; delivery_id: string; claim_count: number }

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

const Recorded = z.strictObject({ delivery_id: z.uuid() })

type Claim = { worker: string; after: string; rowsMax: number; perMerchantMax: number; leaseMs: number }

/** Leases due rows, fairly between merchants (migrations/functions/claim_webhooks.sql). */
export function claimDeliveries(tx: CommonQueryMethods, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  return tx.any(sql.prepared('claim_webhooks', ClaimedDelivery)`
    select merchant_id, delivery_id, claim_count, leases_lost, event_id, attempt_count, payload, webhook_url,
      webhook_signing_secret, webhook_secret_previous
    from claim_webhooks(
      ${claim.worker}, ${claim.after}::uuid, ${claim.rowsMax}::int4, ${claim.perMerchantMax}::int4,
      make_interval(secs => ${claim.leaseMs}::float8 / 1000)
    )`)
}

/**
 * Records a batch of attempts in one statement: the delivery, its attempt, and its place in the queue. Only rows whose
 * lease the worker still holds are changed and returned.
 */
export function recordAttempts(
  tx: CommonQueryMethods,
  worker: string,
  rows: readonly AttemptRow[],
): Promise<readonly z.infer<typeof Recorded>[]> {
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
    row.response_body,
  ])
  const types = ['uuid', 'uuid', 'int4', 'int2', 'text', 'text', 'int2', 'int4', 'int4', 'int4', 'text']
  return tx.any(sql.prepared('record_webhook_attempts', Recorded)`
    with held as (
      select r.*, now() + r.delay_ms * interval '1 millisecond' as due_at
      from ${sql.unnest(tuples, types)} as r (
        merchant_id, delivery_id, claim_count, attempt, status, outcome, http_status, age_ms, duration_ms, delay_ms,
        response_body
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
      merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status, response_body
    )
    select h.merchant_id, h.delivery_id, h.attempt, ${worker}, now() - h.age_ms * interval '1 millisecond', h.duration_ms,
      h.outcome, h.http_status, h.response_body
    from held h
    returning delivery_id`)
}

/** Leases as rows `l` of a statement. */
export function leaseTuples(leases: readonly Lease[]) {
  const tuples = leases.map((lease) => [lease.merchant_id, lease.delivery_id, lease.claim_count])
  return sql.fragment`${sql.unnest(tuples, ['uuid', 'uuid', 'int4'])} as l (merchant_id, delivery_id, claim_count)`
}

/** Releases rows that were claimed and not started: they are due now, for any worker. */
export async function releaseLeases(tx: CommonQueryMethods, worker: string, leases: readonly Lease[]): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update webhook_queue q
    set locked_until = null, locked_by = null
    from ${leaseTuples(leases)}
    where q.merchant_id = l.merchant_id
      and q.delivery_id = l.delivery_id
      and q.locked_by = ${worker}
      and q.claim_count = l.claim_count`)
}

/** Releases and delays a row that can't be sent now through no fault of its merchant: no attempt is counted. */
export async function postponeLease(
  tx: CommonQueryMethods,
  worker: string,
  lease: Lease,
  seconds: number,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
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
    where d.merchant_id = p.merchant_id and d.id = p.delivery_id`)
}
