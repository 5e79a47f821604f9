import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { EndpointCheck } from '../wire/webhooks.ts'
import { endpointNotSet, merchantNotFound } from './endpoint-errors.ts'
import { findAddress } from './endpoint-sql.ts'

/** An attempt ends within five seconds, whatever the endpoint does. */
const RETRY_AFTER_SECONDS = 5

/**
 * Looks whether the server of the merchant's endpoint answers, also while the endpoint is paused. No event is sent.
 * @throws {DomainError} MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET, RATE_LIMITED while one is under way
 */
export async function checkWebhookEndpoint(
  app: Pick<App, 'pool' | 'probe'>,
  merchantId: string,
): Promise<EndpointCheck> {
  const address = await app.pool.maybeOne(findAddress(merchantId))
  if (address === null) throw merchantNotFound()
  const url = address.webhook_url ?? address.paused_webhook_url
  if (url === null) throw endpointNotSet()
  const check = await app.probe.probe(url, merchantId)
  if (check === null) throw tooManyChecks()
  return check
}

function tooManyChecks(): DomainError {
  return new DomainError('RATE_LIMITED', 'a check is under way, of this endpoint or of many others', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    next: `Ask again in ${RETRY_AFTER_SECONDS} seconds.`,
  })
}
