import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import type { DeliveryRecord } from './record.ts'
import { listDeliveries } from './list-sql.ts'

/** The number of deliveries that the portal lists (contract §Limits). */
const LISTED_MAX = 50

export type ListWebhooksInput = {
  merchantId: string
  status?: DeliveryStatus | undefined
  eventType?: string | undefined
  /** Any text: unknown payments have no deliveries. */
  paymentId?: string | undefined
}

/** The merchant's last 50 deliveries, the newest first. */
export async function listWebhooks(
  app: Pick<App, 'pool'>,
  input: ListWebhooksInput,
): Promise<readonly DeliveryRecord[]> {
  if (input.paymentId !== undefined && !isUuid(input.paymentId)) return []
  return listDeliveries(app.pool, input, LISTED_MAX)
}
