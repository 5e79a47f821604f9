import { constantTimeEqual, hmacBase64, hmacHex } from './hmac.ts'

type SignedBody = {
  /** The merchant's signing secret: 64 hex characters, used as text. */
  secret: string
  /** The body's bytes as they travel; a parsed and re-serialised body has another signature. */
  body: Uint8Array
}

/**
 * The value of `X-Service-Signature`: lower-case hex of HMAC-SHA256 over the body's bytes (contract §Webhook
 * signature). The key is the 64 characters of the secret as UTF-8, not the 32 bytes they encode (decision 37).
 */
export function signBody({ secret, body }: SignedBody): string {
  return hmacHex(secret, body)
}

/**
 * The value of `webhook-signature` in the form of Standard Webhooks: `v1,` and base64 of HMAC-SHA256 over
 * `<id>.<timestamp>.<body>`. The key is the same as above: the secret's 64 characters as UTF-8 (`standardSecret`).
 * @param timestamp seconds since 1970, as sent in `webhook-timestamp`
 */
export function signStandard({ secret, body, id, timestamp }: SignedBody & { id: string; timestamp: number }): string {
  return `v1,${hmacBase64(secret, `${id}.${timestamp}.`, body)}`
}

/** The secret as libraries of Standard Webhooks take it. */
export function standardSecret(secret: string): string {
  return `whsec_${Buffer.from(secret, 'utf8').toString('base64')}`
}

/**
 * Whether `signature` is the `X-Service-Signature` of this body, compared in constant time. For receivers and the
 * command line; a receiver answers 401 when it is not.
 */
export function verifySignature({ secret, body, signature }: SignedBody & { signature: string }): boolean {
  return constantTimeEqual(signBody({ secret, body }), signature)
}

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

/** The headers of one attempt, which continue its trace where it has one. */
export function webhookHeaders(signing: Signing, traceparent?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    ...signingHeaders(signing),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
}
