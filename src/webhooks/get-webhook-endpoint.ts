import type { App } from '../app.ts'
import type { WebhookAlert, WebhookEndpoint } from '../wire/webhooks.ts'
import { merchantNotFound } from './endpoint-errors.ts'
import { findEndpoint } from './endpoint-sql.ts'
import type { EndpointRecord } from './record.ts'

/**
 * The merchant's endpoint, with an alert if its deliveries fail (contract §Delivery rules 5).
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getWebhookEndpoint(app: Pick<App, 'pool'>, merchantId: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(app.pool, merchantId)
  if (endpoint === null) throw merchantNotFound()
  const { webhook_url, paused, gone } = endpoint
  return { webhook_url, paused, gone, alert: alertOf(endpoint) }
}

/** The alert of an endpoint; null where nothing is wrong. A gone address comes first, because it is the cause. */
function alertOf({ gone, dead_deliveries }: EndpointRecord): WebhookAlert | null {
  const deadMessage = deadText(dead_deliveries)
  if (gone) {
    return {
      code: 'ENDPOINT_GONE',
      message: `your endpoint responds with 410 Gone${dead_deliveries === 0 ? '' : `, and ${deadMessage}`}`,
      dead_deliveries,
      next: 'Set the current address: svc webhooks endpoint set <url>; then svc webhooks replay --status DEAD',
    }
  }
  if (dead_deliveries === 0) return null
  return {
    code: 'DELIVERIES_DEAD',
    message: deadMessage,
    dead_deliveries,
    next: 'Once your endpoint responds with 2xx, send them again: svc webhooks replay --status DEAD',
  }
}

function deadText(count: number): string {
  return count === 1
    ? '1 delivery has failed six times and is DEAD'
    : `${count} deliveries have failed six times and are DEAD`
}
