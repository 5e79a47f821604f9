import { z } from 'zod'
import {
  EXAMINED_PAGES,
  IdParams,
  Instant,
  Limit,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  reasonText,
  text,
} from './common.ts'
import { operation } from './operation.ts'
import { EventType } from './webhook-events.ts'

export const DeliveryStatus = z.enum(['PENDING', 'DELIVERED', 'FAILED', 'DEAD'])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** A delivery as the portal lists it (decision 25; `payment_id` and `last_error` beside it). */
export const Delivery = z.strictObject({
  id: Uuid,
  event_id: z.string(),
  event_type: z.string(),
  payment_id: Uuid.nullable(),
  status: DeliveryStatus,
  last_http_status: z.int().nullable(),
  last_error: z.string().nullable(),
  attempt_count: z.int(),
  next_retry_at: Timestamp.nullable().meta({ description: 'null when no attempt is scheduled' }),
  delivered_at: Timestamp.nullable(),
  created_at: Timestamp,
})
export type Delivery = z.infer<typeof Delivery>

/** The outcome of an attempt, with the beginning of the endpoint's response. */
export const DeliveryAttempt = z.strictObject({
  attempt: z.int(),
  started_at: Timestamp,
  duration_ms: z.int(),
  outcome: z
    .string()
    .meta({ description: '`delivered`, or the reason of the failure', examples: ['timeout', 'http_500'] }),
  http_status: z.int().nullable(),
  response_body: z.string().nullable().meta({ description: 'at most its first 1024 bytes; null if it was empty' }),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

export const DeliveryDetail = Delivery.extend({
  payload: z.string().meta({ description: 'the exact bytes of the webhook, as text' }),
  attempts: z.array(DeliveryAttempt).meta({ description: 'the last 50, oldest first' }),
})
export type DeliveryDetail = z.infer<typeof DeliveryDetail>

/** Whether the endpoint's server responds to a HEAD request, which makes it do nothing. */
export const EndpointCheck = z.strictObject({
  reachable: z.boolean(),
  outcome: z.string().meta({
    description: '`answered`, or the reason of the failure',
    examples: ['answered', 'dns', 'connect', 'tls', 'timeout'],
  }),
  http_status: z.int().nullable(),
  duration_ms: z.int(),
})
export type EndpointCheck = z.infer<typeof EndpointCheck>

/** A problem with a merchant's deliveries that the merchant must be notified of (contract §Delivery rules 5). */
export const WebhookAlert = z.strictObject({
  code: z.enum(['DELIVERIES_DEAD', 'ENDPOINT_GONE']),
  message: z.string(),
  dead_deliveries: z.int().meta({ description: 'counted up to 10,000' }),
  next: z.string(),
})
export type WebhookAlert = z.infer<typeof WebhookAlert>

export const WebhookEndpoint = z.strictObject({
  webhook_url: z.string().nullable(),
  paused: z.boolean(),
  gone: z.boolean().meta({ description: 'whether the last response of this address was 410' }),
  alert: WebhookAlert.nullable(),
})
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

export const getWebhookEndpoint = operation({
  name: 'getWebhookEndpoint',
  method: 'GET',
  path: '/api/v1/portal/webhook-endpoint',
  summary: 'Get the webhook endpoint',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: WebhookEndpoint },
  errors: [],
})

export const putWebhookEndpoint = operation({
  name: 'putWebhookEndpoint',
  isRecorded: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/portal/webhook-endpoint',
  summary: 'Set, remove, pause or resume the webhook endpoint',
  description: 'A webhook_url of null removes the endpoint.',
  access: ['merchant'],
  permission: 'manage webhooks',
  needsFreshSignIn: true,
  params: None,
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({ webhook_url: text(2048).nullable().optional(), paused: z.boolean().optional() })
    .refine((body) => body.webhook_url !== undefined || body.paused !== undefined, 'must have webhook_url or paused'),
  replies: {
    200: WebhookEndpoint.extend({
      check: EndpointCheck.nullable().meta({
        description: 'null without an address, while too many are being checked, and in a dry run',
      }),
    }),
  },
  errors: ['WEBHOOK_ENDPOINT_NOT_SET'],
})

export const checkWebhookEndpoint = operation({
  name: 'checkWebhookEndpoint',
  method: 'POST',
  path: '/api/v1/portal/webhook-endpoint/check',
  summary: 'Check whether the webhook endpoint responds',
  description: 'Sends no event.',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: None,
  headers: NoHeaders,
  body: None.optional(),
  bodyOptional: true,
  replies: { 200: EndpointCheck },
  errors: ['WEBHOOK_ENDPOINT_NOT_SET'],
})

export const listWebhooks = operation({
  name: 'listWebhooks',
  method: 'GET',
  path: '/api/v1/portal/webhooks',
  summary: 'List the last 50 webhook deliveries',
  description: 'A filter searches the newest 20,000 deliveries that can match.',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: z.strictObject({
    status: DeliveryStatus.optional(),
    event_type: EventType.optional(),
    payment_id: z.string().optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Delivery).extend({ alert: WebhookAlert.nullable() }) },
  errors: [],
})

export const getWebhook = operation({
  name: 'getWebhook',
  method: 'GET',
  path: '/api/v1/portal/webhooks/{id}',
  summary: 'Get a webhook delivery with its attempts',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: DeliveryDetail },
  errors: ['DELIVERY_NOT_FOUND'],
})

export const replayWebhook = operation({
  name: 'replayWebhook',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/webhooks/{id}/replay',
  summary: 'Replay a DEAD webhook delivery',
  description: 'Starts again with the first attempt.',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: None.optional(),
  bodyOptional: true,
  replies: { 200: Delivery },
  errors: ['DELIVERY_NOT_FOUND', 'DELIVERY_NOT_DEAD'],
})

export const replayWebhooks = operation({
  name: 'replayWebhooks',
  isRecorded: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/webhooks/replay',
  summary: 'Replay the DEAD webhook deliveries of a period',
  description: 'Spreads the deliveries, so that they do not overload the endpoint.',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({
      status: z.literal('DEAD').default('DEAD'),
      event_type: EventType.optional(),
      since: Instant.optional().meta({ description: 'only deliveries created at this time or later' }),
      until: Instant.optional().meta({ description: 'only deliveries created before this time' }),
      dry_run: z.boolean().default(false).meta({ description: 'count the deliveries without replaying them' }),
    })
    // Both are in UTC with milliseconds, so they compare as text.
    .refine(({ since, until }) => since === undefined || until === undefined || since < until, {
      path: ['until'],
      message: 'must be later than since',
    }),
  replies: {
    202: z.strictObject({
      matching: z.int().meta({
        description: 'number of DEAD deliveries of the period: counted up to 10,000, and at least the number queued',
      }),
      queued: z.int().meta({ description: 'at most 50,000 for each request' }),
      has_more: z.boolean().meta({
        description: 'whether there may be more; repeat the request to continue',
      }),
    }),
  },
  errors: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_ENDPOINT_PAUSED'],
})

export const testWebhook = operation({
  name: 'testWebhook',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/webhooks/test',
  summary: 'Send a sample event to the webhook endpoint',
  description: 'Signed like any other event.',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ event_type: EventType.default('payment.settled') }).optional(),
  bodyOptional: true,
  replies: { 202: Delivery },
  errors: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_ENDPOINT_PAUSED'],
})

/** A delivery as operators see it. */
export const AdminDelivery = Delivery.extend({
  merchant_id: Uuid,
  realm_slug: z.string().nullable(),
  trading_name: z.string(),
})
export type AdminDelivery = z.infer<typeof AdminDelivery>

export const listOutbox = operation({
  name: 'listOutbox',
  method: 'GET',
  path: '/api/v1/admin/outbox',
  summary: 'List webhook deliveries of all merchants, newest first',
  description: EXAMINED_PAGES,
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: z.strictObject({
    merchant_id: z.string().optional(),
    payment_id: z.string().optional(),
    status: DeliveryStatus.optional(),
    event_type: EventType.optional(),
    limit: Limit,
    cursor: z.string().max(256).optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(AdminDelivery) },
  errors: [],
})

export const replayForMerchant = operation({
  name: 'replayForMerchant',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/merchants/{id}/webhooks/{deliveryId}/replay',
  summary: 'Replay a DEAD webhook delivery of a merchant',
  access: ['platform'],
  permission: 'operate merchants',
  params: z.strictObject({ id: z.string(), deliveryId: z.string() }),
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ reason: reasonText(500).optional() }).optional(),
  bodyOptional: true,
  replies: { 200: AdminDelivery },
  errors: ['MERCHANT_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'DELIVERY_NOT_DEAD'],
})
