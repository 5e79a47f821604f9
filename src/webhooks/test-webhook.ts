import type { App } from '../app.ts'
import type { EventType } from '../wire/webhook-events.ts'
import { sampleData } from '../wire/webhook-samples.ts'
import { requireActiveEndpoint } from './endpoint-errors.ts'
import { lockEndpointShared } from './endpoint-sql.ts'
import { enqueueWebhook } from './enqueue.ts'
import { readNow } from './enqueue-sql.ts'
import { findDelivery } from './log-sql.ts'
import type { DeliveryRecord } from './record.ts'

/**
 * Queues a sample event of this type, which is signed, sent and retried like any other and marked `test` (contract
 * §Delivery rules 7). It refers to no existing payment.
 * @throws {DomainError} MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_ENDPOINT_PAUSED
 */
export async function testWebhook(
  app: Pick<App, 'pool' | 'ids' | 'wake' | 'config'>,
  { merchantId, eventType }: { merchantId: string; eventType: EventType },
): Promise<DeliveryRecord> {
  const { ids } = app
  const delivery = await app.pool.transaction(async (tx) => {
    requireActiveEndpoint(await lockEndpointShared(tx, merchantId))
    const data = sampleData(eventType, {
      merchantId,
      paymentId: ids.uuid(),
      consentId: ids.uuid(),
      refundId: ids.uuid(),
      disputeId: ids.uuid(),
      payoutId: ids.uuid(),
      bankAccountId: ids.uuid(),
      endToEndId: ids.endToEndId(),
      now: await readNow(tx),
      evidenceSeconds: app.config.disputeEvidenceSeconds,
    })
    const { deliveryId } = await enqueueWebhook(app, tx, { merchantId, eventType, payment: null, data })
    const inserted = await findDelivery(tx, merchantId, deliveryId)
    if (inserted === null) throw new Error('a delivery that was just inserted was not found')
    return inserted
  })
  app.wake.notify('deliver-webhooks')
  return delivery
}
