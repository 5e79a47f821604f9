import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Ids } from '../lib/ids.ts'
import { continuedTraceparent, currentTraceparent } from '../lib/trace.ts'
import type { EventType } from '../wire/webhook-events.ts'
import { insertDeliveries, readNow } from './enqueue-sql.ts'

/** The `data` of an envelope: JSON values only. */
export type EventData = Readonly<Record<string, unknown>>

export type NewWebhook = {
  merchantId: string
  eventType: EventType
  /**
   * The payment, with the sequence number that the caller took in this transaction: first attempts are sent in that
   * order. Null for events of other subjects.
   */
  payment: { id: string; sequence: number } | null
  /** The id of another subject, for which an event of this type happens once. */
  subjectId?: string
  data: EventData
}

type Enqueued = { deliveryId: string; eventId: string }

/**
 * Queues a webhook in the transaction of the change that it reports (contract §Delivery rules 1). After the commit the
 * caller wakes 'deliver-webhooks'.
 */
export async function enqueueWebhook(
  app: Pick<App, 'ids'>,
  tx: DatabaseTransactionConnection,
  webhook: NewWebhook,
): Promise<Enqueued> {
  const [queued] = await enqueueWebhooks(app, tx, [webhook])
  if (queued === undefined) throw new Error('a webhook was not queued')
  return queued
}

/** The same for many, with one statement. */
export async function enqueueWebhooks(
  app: Pick<App, 'ids'>,
  tx: DatabaseTransactionConnection,
  webhooks: readonly NewWebhook[],
): Promise<Enqueued[]> {
  if (webhooks.length === 0) return []
  const createdAt = await readNow(tx)
  const deliveries = webhooks.map((webhook) => {
    const { merchantId, eventType, payment, data } = webhook
    const ids = idsFor(app.ids, webhook)
    const id = ids.uuid()
    const eventId = ids.eventId()
    const payload = envelope({ eventId, eventType, createdAt, data })
    const traceparent = payment === null ? currentTraceparent() : continuedTraceparent()
    return { id, merchantId, payment, eventId, eventType, payload, traceparent }
  })
  await insertDeliveries(tx, deliveries)
  return deliveries.map(({ id, eventId }) => ({ deliveryId: id, eventId }))
}

function idsFor(ids: Ids, { eventType, payment, subjectId }: NewWebhook): Ids {
  if (payment !== null) return ids.for('payment event', payment.id, String(payment.sequence))
  return subjectId === undefined ? ids : ids.for('event', subjectId, eventType)
}

/** The text of an event (contract §Webhook events). The bytes are stored, signed and sent unchanged. */
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
