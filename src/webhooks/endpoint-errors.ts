import { DomainError } from '../lib/errors.ts'
import type { Address } from './endpoint-sql.ts'

export function endpointNotSet(): DomainError {
  return new DomainError('WEBHOOK_ENDPOINT_NOT_SET', 'no webhook endpoint is set', {
    next: 'Set one first: svc webhooks endpoint set <url>',
    nextStep: { operation: 'putWebhookEndpoint', params: {} },
  })
}

export function merchantNotFound(): DomainError {
  return new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
}

/**
 * Requires an endpoint that receives deliveries.
 * @throws {DomainError} MERCHANT_NOT_FOUND for null, WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_ENDPOINT_PAUSED
 */
export function requireActiveEndpoint(address: Address | null): void {
  if (address === null) throw merchantNotFound()
  if (address.webhook_url !== null) return
  if (address.paused_webhook_url === null) throw endpointNotSet()
  throw new DomainError('WEBHOOK_ENDPOINT_PAUSED', 'the webhook endpoint is paused', {
    next: 'Resume it first: svc webhooks endpoint resume',
    nextStep: { operation: 'putWebhookEndpoint', params: {} },
  })
}
