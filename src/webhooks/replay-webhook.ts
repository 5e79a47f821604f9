import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { Address } from './endpoint-sql.ts'
import { lockForQueueing } from './endpoint-sql.ts'
import { findDelivery } from './log-sql.ts'
import type { DeliveryRecord } from './record.ts'
import { replayDelivery } from './replay-sql.ts'

export type ReplayWebhookInput = { merchantId: string; id: string }

/**
 * Replays a DEAD delivery from its first attempt: PENDING, `attempt_count` 0 (contract §Webhook delivery status), with
 * unchanged event id and payload. A delivery that still waits although the merchant has an endpoint, because it was too
 * old when that was set, is queued with its attempts kept (decision 38). Without an endpoint, or while it is paused,
 * the replayed delivery waits.
 * @throws {DomainError} DELIVERY_NOT_FOUND for an id that is unknown, malformed or another merchant's;
 *   DELIVERY_NOT_DEAD
 */
export async function replayWebhook(
  app: Pick<App, 'pool' | 'wake'>,
  input: ReplayWebhookInput,
): Promise<DeliveryRecord> {
  const replayed = await app.pool.transaction((tx) => replayIn(tx, input))
  if (replayed.next_retry_at !== null) app.wake.notify('deliver-webhooks')
  return replayed
}

/**
 * The same within the caller's transaction; the caller wakes 'deliver-webhooks' afterwards.
 * @throws {DomainError} DELIVERY_NOT_FOUND, DELIVERY_NOT_DEAD
 */
export async function replayIn(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: ReplayWebhookInput,
): Promise<DeliveryRecord> {
  const endpoint = isUuid(id) ? await lockForQueueing(tx, merchantId) : null
  if (endpoint === null) throw deliveryNotFound()
  const replayed = await replayDelivery(tx, merchantId, id, endpoint.webhook_url !== null)
  if (replayed !== null) return replayed
  const found = await findDelivery(tx, merchantId, id)
  throw found === null ? deliveryNotFound() : notDead(found, endpoint)
}

function notDead(found: DeliveryRecord, endpoint: Address): DomainError {
  return new DomainError('DELIVERY_NOT_DEAD', `the delivery is ${found.status}; only a DEAD one can be replayed`, {
    next: nextStep(found, endpoint),
    current: { status: found.status },
  })
}

function nextStep({ status, next_retry_at }: DeliveryRecord, { paused_webhook_url }: Address): string {
  if (status === 'DELIVERED') return 'No action needed: your endpoint has confirmed this event.'
  if (next_retry_at === null && paused_webhook_url !== null)
    return 'Resume your webhook endpoint; the delivery waits for it.'
  if (next_retry_at === null) return 'Set a webhook endpoint first; the delivery waits for one.'
  return `Wait for its next attempt at ${next_retry_at}; after the sixth failure it is DEAD and can be replayed.`
}

export function deliveryNotFound(): DomainError {
  return new DomainError('DELIVERY_NOT_FOUND', 'delivery not found')
}
