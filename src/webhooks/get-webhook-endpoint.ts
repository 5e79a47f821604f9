import type { App } from '../app.ts'
import type { WebhookAlert, WebhookEndpoint } from '../wire/webhooks.ts'
import { merchantNotFound } from './endpoint-errors.ts'
import { findEndpoint } from './endpoint-sql.ts'
import type { EndpointRecord } from './record.ts'

/**
 * The merchant's endpoint, and what it has to be told about it (contract §Delivery rules 5).
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getWebhookEndpoint(app: Pick<App, 'pool'>, merchantId: string): Promise<WebhookEndpoint> {
  const endpoint = await app.pool.maybeOne(findEndpoint(merchantId))
  if (endpoint === null) throw merchantNotFound()
  const { webhook_url, paused, gone } = endpoint
  return { webhook_url, paused, gone, alert: alertOf(endpoint) }
}

/** The alert of an endpoint; null where nothing is wrong. An address that is gone is told first, for it is the cause. */
export function alertOf({ gone, dead_deliveries }: EndpointRecord): WebhookAlert | null {
  const told = deadText(dead_deliveries)
  if (gone) {
    return {
      code: 'ENDPOINT_GONE',
      message: `your endpoint answers 410 Gone${dead_deliveries === 0 ? '' : `, and ${told}`}`,
      dead_deliveries,
      next: 'Set the address that events go to now: svc webhooks endpoint set <url>; then svc webhooks replay --status DEAD',
    }
  }
  if (dead_deliveries === 0) return null
  return {
    code: 'DELIVERIES_DEAD',
    message: told,
    dead_deliveries,
    next: 'Once your endpoint answers 2xx, send them again: svc webhooks replay --status DEAD',
  }
}

function deadText(count: number): string {
  return count === 1
    ? '1 delivery has failed six times and is DEAD'
    : `${count} deliveries have failed six times and are DEAD`
}
