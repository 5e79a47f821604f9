import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { AttemptRecord, DeliveryRecord, SentDeliveryRecord } from './record.ts'

/** The columns of a DeliveryRecord, from a delivery `d`. */
export const recordColumns = sql.fragment`
  d.id, d.event_id, d.event_type, d.payment_intent_id, d.status, d.last_http_status, d.last_error, d.attempt_count,
  nullif(d.next_retry_at, 'infinity') as next_retry_at, d.delivered_at, d.created_at`

export function findDelivery(tx: CommonQueryMethods, merchantId: string, id: string): Promise<DeliveryRecord | null> {
  return tx.maybeOne(sql.prepared('find_delivery', DeliveryRecord)`
    select ${recordColumns} from webhook_log d where d.merchant_id = ${merchantId}::uuid and d.id = ${id}::uuid`)
}

/** A delivery with its payload. */
export function findSentDelivery(
  tx: CommonQueryMethods,
  merchantId: string,
  id: string,
): Promise<SentDeliveryRecord | null> {
  return tx.maybeOne(sql.prepared('find_sent_delivery', SentDeliveryRecord)`
    select ${recordColumns}, d.payload::text as payload
    from webhook_log d
    where d.merchant_id = ${merchantId}::uuid and d.id = ${id}::uuid`)
}

/** The last `size` attempts of a delivery, the oldest first. */
export function listAttempts(
  tx: CommonQueryMethods,
  merchantId: string,
  id: string,
  size: number,
): Promise<readonly AttemptRecord[]> {
  return tx.any(sql.prepared('list_attempts', AttemptRecord)`
    select a.attempt, a.started_at, a.duration_ms, a.outcome, a.http_status, a.response_body
    from (
      select id, attempt, started_at, duration_ms, outcome, http_status, response_body
      from webhook_attempts
      where merchant_id = ${merchantId}::uuid and delivery_id = ${id}::uuid
      order by id desc
      limit ${size}
    ) a
    order by a.id`)
}
