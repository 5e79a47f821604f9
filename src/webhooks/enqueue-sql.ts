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
}

/** The transaction's time by the database's clock, as envelopes write it. */
export async function readNow(tx: CommonQueryMethods): Promise<string> {
  const { now } = await tx.one(sql.type(z.object({ now: z.string() }))`select iso_text(now()) as now`)
  return now
}

/** Inserts a delivery: due now, or waiting while the merchant has no endpoint. A trigger queues it. */
export async function insertDelivery(tx: DatabaseTransactionConnection, delivery: NewDelivery): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload, next_retry_at, sequence)
    select ${delivery.id}, m.id, ${delivery.payment?.id ?? null}, ${delivery.eventId}, ${delivery.eventType},
      ${delivery.payload}::json, first_attempt_at(m.webhook_url), ${delivery.payment?.sequence ?? 1}
    from merchants m
    where m.id = ${delivery.merchantId}
  `)
}
