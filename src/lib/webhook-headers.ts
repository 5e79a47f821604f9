import { signBody, signStandard } from './webhook-signature.ts'

type Signing = {
  secret: string
  /** The secret before the last rotation; null outside of its overlap. */
  previousSecret: string | null
  eventId: string
  body: Uint8Array
  /** Milliseconds since 1970. */
  now: number
}

/**
 * The headers that sign an event's bytes, made with the merchant's current secrets; `webhook-id` is the event's id and
 * the same on every retry, `webhook-timestamp` the time of the attempt. During the overlap of a rotation the previous
 * secret signs as well: a receiver can verify with either of the two (decision 37).
 */
export function signingHeaders(signing: Signing): Record<string, string> {
  const { eventId, body, secret, previousSecret, now } = signing
  const timestamp = Math.floor(now / 1000)
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret]
  return {
    'X-Service-Signature': signBody({ secret, body }),
    ...(previousSecret === null ? {} : { 'X-Service-Signature-Previous': signBody({ secret: previousSecret, body }) }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((each) => signStandard({ secret: each, body, id: eventId, timestamp })).join(' '),
  }
}

/** The headers of one attempt. */
export function webhookHeaders(signing: Signing): Record<string, string> {
  return { 'content-type': 'application/json', 'user-agent': 'svc-webhooks/1', ...signingHeaders(signing) }
}
