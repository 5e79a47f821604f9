import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { deliveryNotFound } from './replay-webhook.ts'
import type { AttemptRecord, SentDeliveryRecord } from './record.ts'
import { findSentDelivery, listAttempts } from './log-sql.ts'

/** Six a round; more only where it was sent again by hand. */
const ATTEMPTS_MAX = 50

/**
 * A delivery of the merchant with what was sent, and its last attempts, the oldest first.
 * @throws {DomainError} DELIVERY_NOT_FOUND for an id that is unknown, malformed or another merchant's
 */
export async function getWebhook(
  app: Pick<App, 'pool'>,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<{ delivery: SentDeliveryRecord; attempts: readonly AttemptRecord[] }> {
  if (!isUuid(id)) throw deliveryNotFound()
  const delivery = await app.pool.maybeOne(findSentDelivery(merchantId, id))
  if (delivery === null) throw deliveryNotFound()
  return { delivery, attempts: await app.pool.any(listAttempts(merchantId, id, ATTEMPTS_MAX)) }
}
