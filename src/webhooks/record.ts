import { z } from 'zod'
import { DeliveryStatus } from '../wire/webhooks.ts'

/**
 * Why an attempt failed: a closed list, so that the portal reveals nothing about the network behind a merchant's
 * address. `http_NNN` is any response that is neither 2xx nor 3xx.
 */
export type FailureReason =
  | `http_${number}`
  /** A 3xx response: redirects are not followed (decision 38). */
  | 'redirect'
  /** No status line within five seconds (contract §Delivery rules 3). */
  | 'timeout'
  /** The host's name has no address. */
  | 'dns'
  /** No connection. */
  | 'connect'
  /** The connection exists, but the certificate or handshake is invalid. */
  | 'tls'
  /** The address is not allowed for webhooks. */
  | 'blocked'
  /** The connection ended before a response. */
  | 'reset'
  /** The response is not HTTP. */
  | 'bad_response'
  /** Three workers in a row were lost during this attempt. */
  | 'worker_lost'

export type Outcome = 'delivered' | FailureReason

/** A delivery as the portal lists it. */
export const DeliveryRecord = z.strictObject({
  id: z.uuid(),
  event_id: z.string(),
  event_type: z.string(),
  payment_intent_id: z.uuid().nullable(),
  status: DeliveryStatus,
  last_http_status: z.int().nullable(),
  last_error: z.string().nullable(),
  attempt_count: z.int(),
  /** Null when no attempt is scheduled. */
  next_retry_at: z.iso.datetime().nullable(),
  delivered_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
})
export type DeliveryRecord = z.infer<typeof DeliveryRecord>

/** A delivery with its payload, as stored. */
export const SentDeliveryRecord = DeliveryRecord.extend({ payload: z.string() })
export type SentDeliveryRecord = z.infer<typeof SentDeliveryRecord>

/** A delivery as operators list it; `created_us` is its position in the list. */
export const OutboxRecord = DeliveryRecord.extend({
  merchant_id: z.uuid(),
  realm_slug: z.string().nullable(),
  trading_name: z.string(),
  created_us: z.string(),
})
export type OutboxRecord = z.infer<typeof OutboxRecord>

/** An attempt as the log shows it. */
export const AttemptRecord = z.strictObject({
  attempt: z.int(),
  started_at: z.iso.datetime(),
  duration_ms: z.int(),
  outcome: z.string(),
  http_status: z.int().nullable(),
  response_body: z.string().nullable(),
})
export type AttemptRecord = z.infer<typeof AttemptRecord>

/** The endpoint as its merchant sees it. */
export const EndpointRecord = z.strictObject({
  /** Set even while it is paused. */
  webhook_url: z.string().nullable(),
  paused: z.boolean(),
  gone: z.boolean(),
  dead_deliveries: z.int(),
})
export type EndpointRecord = z.infer<typeof EndpointRecord>

/** A delivery whose lane this worker holds, with everything that an attempt needs. */
export const ClaimedDelivery = z.strictObject({
  merchant_id: z.uuid(),
  delivery_id: z.uuid(),
  /** The fencing token: records under another number are ignored. */
  epoch: z.int(),
  /** What was left of the lane's lease. */
  lease_ms: z.int(),
  leases_lost: z.int(),
  event_id: z.string(),
  attempt_count: z.int(),
  /** The text that is signed and sent, as stored. */
  payload: z.string(),
  /** Null when the merchant removed its endpoint after the row was queued. */
  webhook_url: z.string().nullable(),
  /** Sealed. */
  webhook_signing_secret: z.string(),
  /** Sealed; null outside of an overlap. */
  webhook_secret_previous: z.string().nullable(),
  /** The trace that the attempt is part of. */
  traceparent: z.string().nullable(),
})
export type ClaimedDelivery = z.infer<typeof ClaimedDelivery>
