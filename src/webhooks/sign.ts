import { signBody, signStandard } from '../lib/webhook-signature.ts'

/**
 * The headers of one attempt. They are made when it is sent, with the merchant's secret of that moment; `webhook-id` is
 * the event's id and the same on every retry, `webhook-timestamp` the time of the attempt (decision 37).
 * @param now milliseconds since 1970
 */
export function webhookHeaders(input: { eventId: string; body: Uint8Array; secret: string; now: number }): Record<string, string> {
  const { eventId, body, secret } = input
  const timestamp = Math.floor(input.now / 1000)
  return {
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    'x-service-signature': signBody({ secret, body }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signStandard({ secret, body, id: eventId, timestamp }),
  }
}
