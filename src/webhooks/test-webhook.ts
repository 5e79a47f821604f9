import type { App } from '../app.ts'
import type { EventType } from '../wire/webhook-events.ts'
import { sampleData } from '../wire/webhook-samples.ts'
import { requireActiveEndpoint } from './endpoint-errors.ts'
import { holdEndpoint } from './endpoint-sql.ts'
import { enqueueWebhook } from './enqueue.ts'
import { readNow } from './enqueue-sql.ts'
import { findDelivery } from './log-sql.ts'
import type { DeliveryRecord } from './record.ts'

/**
 * Queues a made-up event of this type, which is signed, sent and retried like any other and says `test` (contract
 * §Delivery rules 7). It is about no payment that there is.
 * @throws {DomainError} MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_ENDPOINT_PAUSED
 */
export async function testWebhook(
  app: Pick<App, 'pool' | 'ids' | 'wake' | 'config'>,
  { merchantId, eventType }: { merchantId: string; eventType: EventType },
): Promise<DeliveryRecord> {
  const { ids } = app
  const delivery = await app.pool.transaction(async (tx) => {
    requireActiveEndpoint(await tx.maybeOne(holdEndpoint(merchantId)))
    const data = sampleData(eventType, {
      merchantId,
      paymentId: ids.uuid(),
      consentId: ids.uuid(),
      refundId: ids.uuid(),
      disputeId: ids.uuid(),
      endToEndId: ids.endToEndId(),
      now: await readNow(tx),
      evidenceSeconds: app.config.disputeEvidenceSeconds,
    })
    const { deliveryId } = await enqueueWebhook(app, tx, { merchantId, eventType, payment: null, data })
    return tx.one(findDelivery(merchantId, deliveryId))
  })
  app.wake.notify('deliver-webhooks')
  return delivery
}
