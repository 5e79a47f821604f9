import { signBody, signStandard } from '../lib/webhook-signature.ts'

type Signing = {
  eventId: string
  body: Uint8Array
  /** The merchant's signing secret in plain. */
  secret: string
  /** Milliseconds since 1970. */
  now: number
}

/**
 * The headers that sign an event's bytes, made with the merchant's secret of that moment; `webhook-id` is the event's id
 * and the same on every retry, `webhook-timestamp` the time of the attempt (decision 37).
 */
export function signingHeaders({ eventId, body, secret, now }: Signing): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  return {
    'X-Service-Signature': signBody({ secret, body }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signStandard({ secret, body, id: eventId, timestamp }),
  }
}

/** The headers of one attempt. */
export function webhookHeaders(signing: Signing): Record<string, string> {
  return { 'content-type': 'application/json', 'user-agent': 'svc-webhooks/1', ...signingHeaders(signing) }
}
