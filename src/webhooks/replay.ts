import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { DeliveryRecord } from './record.ts'
import { findDelivery, holdEndpoint, replayDelivery } from './sql.ts'

/**
 * Sends a DEAD delivery again from its first attempt: PENDING, `attempt_count` 0 (specification, Webhook delivery
 * status), with the event id and bytes it always had. A delivery that waits although the merchant has an endpoint,
 * because it was too old when that was set, is queued as it stands (decision 38). Without an endpoint the replayed
 * delivery waits for one.
 * @throws {DomainError} DELIVERY_NOT_FOUND for an id that is unknown, malformed or another merchant's;
 *   DELIVERY_NOT_DEAD
 */
export async function replay(
  app: Pick<App, 'pool' | 'wake'>,
  input: { merchantId: string; id: string },
): Promise<DeliveryRecord> {
  const { merchantId, id } = input
  if (!isUuid(id)) throw notFound()
  const replayed = await app.pool.transaction(async (tx) => {
    const endpoint = await tx.maybeOne(holdEndpoint(merchantId))
    if (endpoint === null) throw notFound()
    return tx.maybeOne(replayDelivery(merchantId, id, endpoint.webhook_url !== null))
  })
  if (replayed === null) throw await refusal(app, input)
  if (replayed.next_retry_at !== null) app.wake.notify('deliver-webhooks')
  return replayed
}

async function refusal(
  app: Pick<App, 'pool'>,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<DomainError> {
  const found = await app.pool.maybeOne(findDelivery(merchantId, id))
  if (found === null) return notFound()
  return new DomainError('DELIVERY_NOT_DEAD', `the delivery is ${found.status}; only a DEAD one can be replayed`, {
    next: nextStep(found),
  })
}

function nextStep({ status, next_retry_at }: DeliveryRecord): string {
  if (status === 'DELIVERED') return 'Nothing is to be done: your endpoint has confirmed this event.'
  if (next_retry_at === null) return 'Set a webhook endpoint first; the delivery waits for one.'
  return `Wait for its next attempt at ${next_retry_at}; after the sixth failure it is DEAD and can be replayed.`
}

function notFound(): DomainError {
  return new DomainError('DELIVERY_NOT_FOUND', 'there is no such delivery')
}
