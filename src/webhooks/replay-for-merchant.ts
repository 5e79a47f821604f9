import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { getMerchant } from '../merchants/get-merchant.ts'
import type { DeliveryRecord, OutboxRecord } from './record.ts'
import { replayIn } from './replay-webhook.ts'

export type ReplayForMerchant = { merchantId: string; id: string; actor: Actor; reason: string | undefined }

/**
 * Replays a merchant's DEAD delivery for an operator (decision 26), recorded in the audit trail under the operator's
 * name.
 * @throws {DomainError} MERCHANT_NOT_FOUND, DELIVERY_NOT_FOUND, DELIVERY_NOT_DEAD
 */
export async function replayForMerchant(
  app: Pick<App, 'pool' | 'ids' | 'wake'>,
  { merchantId, id, actor, reason }: ReplayForMerchant,
): Promise<DeliveryRecord & Pick<OutboxRecord, 'merchant_id' | 'realm_slug' | 'trading_name'>> {
  const { merchant } = await getMerchant(app, merchantId)
  const replayed = await app.pool.transaction(async (tx) => {
    const delivery = await replayIn(tx, { merchantId: merchant.id, id })
    await recordAction(app, tx, {
      actor,
      action: 'webhook.replay',
      merchantId: merchant.id,
      subjectId: delivery.id,
      reason,
      after: { event_id: delivery.event_id, event_type: delivery.event_type, next_retry_at: delivery.next_retry_at },
    })
    return delivery
  })
  if (replayed.next_retry_at !== null) app.wake.notify('deliver-webhooks')
  const { realm_slug: realmSlug, trading_name: tradingName } = merchant
  return { ...replayed, merchant_id: merchant.id, realm_slug: realmSlug, trading_name: tradingName }
}
