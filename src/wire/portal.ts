import { z } from 'zod'
import { IdParams, Limit, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, text } from './common.ts'
import { operation } from './operation.ts'

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
  next_retry_at: Timestamp.nullable().meta({ description: 'null when no attempt is planned' }),
  delivered_at: Timestamp.nullable(),
  created_at: Timestamp,
})
export type Delivery = z.infer<typeof Delivery>

export const WebhookEndpoint = z.strictObject({ webhook_url: z.string().nullable() })
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

export const getWebhookEndpoint = operation({
  name: 'getWebhookEndpoint',
  method: 'GET',
  path: '/api/v1/portal/webhook-endpoint',
  summary: 'Get the address that webhooks go to',
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
  method: 'PUT',
  path: '/api/v1/portal/webhook-endpoint',
  summary: 'Set the address that webhooks go to; null removes it',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ webhook_url: text(2048).nullable() }),
  replies: { 200: WebhookEndpoint },
  errors: [],
})

export const listWebhooks = operation({
  name: 'listWebhooks',
  method: 'GET',
  path: '/api/v1/portal/webhooks',
  summary: 'List the last 50 webhook deliveries',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: z.strictObject({ status: DeliveryStatus.optional(), payment_id: z.string().optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Delivery) },
  errors: [],
})

export const replayWebhook = operation({
  name: 'replayWebhook',
  method: 'POST',
  path: '/api/v1/portal/webhooks/{id}/replay',
  summary: 'Send a DEAD delivery again, from its first attempt',
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

/** An event as the pull feed gives it: the very bytes that a webhook carries, and the headers that sign them (decision 56). */
export const FeedEvent = z.strictObject({
  cursor: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  created_at: Timestamp,
  payload: z
    .string()
    .meta({ description: 'the exact bytes of the webhook, as text: parse it, but verify it as it is' }),
  signatures: z
    .record(z.string(), z.string())
    .meta({ description: 'the signing headers of a webhook, by their names' }),
})
export type FeedEvent = z.infer<typeof FeedEvent>

export const listEvents = operation({
  name: 'listEvents',
  method: 'GET',
  path: '/api/v1/portal/events',
  summary: 'Pull events in the order in which they were committed, whether or not a webhook delivered them',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: z.strictObject({
    after: z
      .string()
      .max(128)
      .optional()
      .meta({ description: 'a cursor, or "latest" to begin with what comes from now on' }),
    limit: Limit,
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ data: z.array(FeedEvent), next_cursor: z.string().nullable() }) },
  errors: [],
})
