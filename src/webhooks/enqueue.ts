import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { EventType } from '../wire/webhook-events.ts'
import { insertDelivery, readNow } from './enqueue-sql.ts'

/** A value of an envelope's `data`, which says nothing else than JSON can. */
export type EventData = Readonly<Record<string, unknown>>

export type NewWebhook = {
  merchantId: string
  eventType: EventType
  /**
   * The payment that it is about, with the place among its events that the caller took in this transaction: first
   * attempts leave in that order. Null for what is about no payment.
   */
  payment: { id: string; sequence: number } | null
  data: EventData
}

/**
 * Queues a webhook in the transaction of the change that it announces (specification, Delivery rules 1). After the
 * commit the caller wakes 'deliver-webhooks'.
 */
export async function enqueueWebhook(
  app: Pick<App, 'ids'>,
  tx: DatabaseTransactionConnection,
  { merchantId, eventType, payment, data }: NewWebhook,
): Promise<{ deliveryId: string; eventId: string }> {
  const deliveryId = app.ids.uuid()
  const eventId = app.ids.eventId()
  const payload = envelope({ eventId, eventType, createdAt: await readNow(tx), data })
  await insertDelivery(tx, { id: deliveryId, merchantId, payment, eventId, eventType, payload })
  return { deliveryId, eventId }
}

/** The text of an event (specification, Webhook envelope). It is stored as it is here, and signed and sent as stored. */
export function envelope(event: {
  eventId: string
  eventType: EventType
  /** ISO 8601, by the database's clock. */
  createdAt: string
  data: EventData
}): string {
  const { eventId, eventType, createdAt, data } = event
  return JSON.stringify({ eventId, eventType, apiVersion: 'v1', createdAt, data })
}
