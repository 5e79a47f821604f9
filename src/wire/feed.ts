import { z } from 'zod'
import { Limit, NoBody, NoHeaders, None, Timestamp } from './common.ts'
import { operation } from './operation.ts'

/** An event of the pull feed: exactly the bytes of its webhook, and the headers that sign them (decision 56). */
export const FeedEvent = z.strictObject({
  cursor: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  created_at: Timestamp,
  payload: z
    .string()
    .meta({ description: 'the exact bytes of the webhook, as text: verify the signature before parsing' }),
  signatures: z.record(z.string(), z.string()).meta({ description: 'the signing headers of the webhook, by name' }),
})
export type FeedEvent = z.infer<typeof FeedEvent>

export const listEvents = operation({
  name: 'listEvents',
  method: 'GET',
  path: '/api/v1/portal/events',
  summary: 'List events in commit order',
  description: 'Includes events that no webhook delivered.',
  access: ['merchant'],
  permission: 'manage webhooks',
  params: None,
  query: z.strictObject({
    after: z.string().max(128).optional().meta({ description: 'a cursor, or "latest" to start with future events' }),
    limit: Limit,
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ data: z.array(FeedEvent), next_cursor: z.string().nullable() }) },
  errors: [],
})
