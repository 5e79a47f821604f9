import { z } from 'zod'
import { IdParams, NoBody, NoHeaders, None, Timestamp, Uuid } from './common.ts'
import { operation } from './operation.ts'

/** One thing that happened, wherever it is recorded; `due` is one that will. */
export const TimelineEntry = z.strictObject({
  at: Timestamp,
  kind: z.enum(['merchant', 'operator', 'dispute', 'refund', 'payment', 'consent', 'webhook', 'attempt', 'due']),
  /** Whose doing it was: `MERCHANT_API`, `BANK_CALLBACK`, an operator's name; null where that is not told. */
  by: z.string().nullable(),
  text: z.string(),
  /** What came of it: a status, or how an attempt ended. */
  status: z.string().nullable(),
  /** The row it is about: a delivery, refund or dispute. An attempt names its delivery. */
  ref: z.string().nullable(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

/** What can happen next, a row of the thing's own transition table. */
export const NextStep = z.strictObject({
  on: z.string(),
  to: z.string(),
  /** Who can make it happen. */
  by: z.string(),
  /** When it happens unasked; null where somebody has to do it. */
  at: Timestamp.nullable(),
  /** What to type; null where the caller can't make it happen. */
  how: z.string().nullable(),
  /** The webhook that announces it; null where nothing is announced. */
  webhook: z.string().nullable(),
})
export type NextStep = z.infer<typeof NextStep>

/** What can be done about it beside that, without a change of its status. */
export const OtherStep = z.strictObject({ what: z.string(), by: z.string(), how: z.string().nullable() })
export type OtherStep = z.infer<typeof OtherStep>

/** The story of one thing: what happened, why it stands where it stands, and what can happen next. */
export const Explanation = z.strictObject({
  kind: z.enum(['payment', 'delivery', 'dispute', 'merchant']),
  id: Uuid,
  merchant_id: Uuid,
  title: z.string().meta({ description: 'what it is, in a few words', examples: ['payment of 50.00 GBP'] }),
  status: z.string(),
  standing: z.string().meta({ description: 'why it stands where it stands, in a sentence or two' }),
  as_of: Timestamp.meta({ description: "when this was read, by the service's clock" }),
  timeline: z.array(TimelineEntry).meta({ description: 'the oldest first' }),
  left_out: z.array(z.string()).meta({ description: 'what the timeline does not tell, where it is too long' }),
  next: z.array(NextStep).meta({ description: 'empty at an end: nothing changes it any more' }),
  also: z.array(OtherStep),
})
export type Explanation = z.infer<typeof Explanation>

export const explainForMerchant = operation({
  name: 'explainForMerchant',
  method: 'GET',
  path: '/api/v1/portal/explain/{id}',
  summary: "Tell the story of one of the merchant's payments, deliveries or disputes, or of the merchant itself",
  access: ['merchant'],
  permission: 'read payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Explanation },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const explainForOperator = operation({
  name: 'explainForOperator',
  method: 'GET',
  path: '/api/v1/admin/explain/{id}',
  summary: 'Tell the story of any payment, delivery, dispute or merchant',
  access: ['platform'],
  permission: 'read merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Explanation },
  errors: ['RESOURCE_NOT_FOUND'],
})
