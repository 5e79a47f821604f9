import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { EndpointCheck } from '../wire/webhooks.ts'
import { endpointNotSet, merchantNotFound } from './endpoint-errors.ts'
import { findAddress } from './endpoint-sql.ts'

/** An attempt always ends within five seconds. */
const RETRY_AFTER_SECONDS = 5

/**
 * Checks whether the server of the merchant's endpoint responds, even while the endpoint is paused. No event is sent.
 * @throws {DomainError} MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET, RATE_LIMITED while another check is running
 */
export async function checkWebhookEndpoint(
  app: Pick<App, 'pool' | 'probe'>,
  merchantId: string,
): Promise<EndpointCheck> {
  const address = await findAddress(app.pool, merchantId)
  if (address === null) throw merchantNotFound()
  const url = address.webhook_url ?? address.paused_webhook_url
  if (url === null) throw endpointNotSet()
  const check = await app.probe.probe(url, merchantId)
  if (check === null) throw tooManyChecks()
  return check
}

function tooManyChecks(): DomainError {
  return new DomainError('RATE_LIMITED', 'a check of this endpoint is already running, or too many checks are', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    next: `Try again in ${RETRY_AFTER_SECONDS} seconds.`,
  })
}
