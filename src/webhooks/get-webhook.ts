import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { deliveryNotFound } from './replay-webhook.ts'
import type { AttemptRecord, SentDeliveryRecord } from './record.ts'
import { findSentDelivery, listAttempts } from './log-sql.ts'

/** Six per round; more only after replays. */
const ATTEMPTS_MAX = 50

/**
 * A delivery of the merchant with its payload and last attempts, oldest first.
 * @throws {DomainError} DELIVERY_NOT_FOUND for an id that is unknown, malformed or another merchant's
 */
export async function getWebhook(
  app: Pick<App, 'pool'>,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<{ delivery: SentDeliveryRecord; attempts: readonly AttemptRecord[] }> {
  if (!isUuid(id)) throw deliveryNotFound()
  const delivery = await findSentDelivery(app.pool, merchantId, id)
  if (delivery === null) throw deliveryNotFound()
  return { delivery, attempts: await listAttempts(app.pool, merchantId, id, ATTEMPTS_MAX) }
}
