import type { QuerySqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { AttemptRecord, DeliveryRecord, SentDeliveryRecord } from './record.ts'

type Query<T extends z.ZodType> = QuerySqlToken<T>

/** The columns of a delivery `d`, as a DeliveryRecord has them. */
export const recordColumns = sql.fragment`
  d.id, d.event_id, d.event_type, d.payment_intent_id, d.status, d.last_http_status, d.last_error, d.attempt_count,
  nullif(d.next_retry_at, 'infinity') as next_retry_at, d.delivered_at, d.created_at`

export function findDelivery(merchantId: string, id: string): Query<typeof DeliveryRecord> {
  return sql.type(DeliveryRecord)`
    select ${recordColumns} from webhook_deliveries d where d.merchant_id = ${merchantId}::uuid and d.id = ${id}::uuid`
}

/** A delivery with the bytes that are sent. */
export function findSentDelivery(merchantId: string, id: string): Query<typeof SentDeliveryRecord> {
  return sql.type(SentDeliveryRecord)`
    select ${recordColumns}, d.payload::text as payload
    from webhook_deliveries d
    where d.merchant_id = ${merchantId}::uuid and d.id = ${id}::uuid`
}

/** The last `size` attempts of a delivery, the oldest first. */
export function listAttempts(merchantId: string, id: string, size: number): Query<typeof AttemptRecord> {
  return sql.type(AttemptRecord)`
    select a.attempt, a.started_at, a.duration_ms, a.outcome, a.http_status, a.response_body
    from (
      select id, attempt, started_at, duration_ms, outcome, http_status, response_body
      from webhook_attempts
      where merchant_id = ${merchantId}::uuid and delivery_id = ${id}::uuid
      order by id desc
      limit ${size}
    ) a
    order by a.id`
}
