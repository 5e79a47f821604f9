import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

export type NewDelivery = {
  id: string
  merchantId: string
  /** The payment and the sequence number of the event among the payment's events; null for events of other subjects. */
  payment: { id: string; sequence: number } | null
  eventId: string
  eventType: string
  /** The envelope's text: the very bytes that are signed and sent. */
  payload: string
  /** The trace that the request to the merchant continues; for an event of a payment, undefined for the payment's. */
  traceparent: string | undefined
}

/** The transaction's time by the database's clock, as envelopes write it. */
export async function readNow(tx: CommonQueryMethods): Promise<string> {
  const { now } = await tx.one(sql.type(z.object({ now: z.string() }))`select iso_text(now()) as now`)
  return now
}

/** Inserts deliveries: due now, or waiting while the merchant has no endpoint. A trigger queues each. */
export async function insertDeliveries(
  tx: DatabaseTransactionConnection,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const rows = deliveries.map((each) => [
    each.id,
    each.merchantId,
    each.payment?.id ?? null,
    each.eventId,
    each.eventType,
    each.payload,
    each.payment?.sequence ?? 1,
    each.traceparent ?? null,
  ])
  await tx.query(sql.type(z.object({}))`
    insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload, next_retry_at, sequence, traceparent)
    select d.id, m.id, d.payment_id, d.event_id, d.event_type, d.payload::json, first_attempt_at(m.webhook_url), d.sequence,
      coalesce(d.traceparent, (
        select p.traceparent from payment_intents p where p.merchant_id = d.merchant_id and p.id = d.payment_id
      ))
    from ${sql.unnest(rows, ['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'int4', 'text'])} as d (
      id, merchant_id, payment_id, event_id, event_type, payload, sequence, traceparent
    )
    join merchants m on m.id = d.merchant_id
  `)
}
