import { z } from 'zod'
import { IdParams, NoBody, NoHeaders, None, Timestamp, Uuid } from './common.ts'
import { operation } from './operation.ts'

/** An event of any of the event tables; `due` is a scheduled one. */
export const TimelineEntry = z.strictObject({
  at: Timestamp,
  kind: z.enum([
    'merchant',
    'operator',
    'dispute',
    'refund',
    'payment',
    'bank',
    'consent',
    'settlement',
    'payout',
    'webhook',
    'attempt',
    'due',
  ]),
  /** The actor: `MERCHANT_API`, `BANK_CALLBACK`, an operator's name; null where the caller may not see it. */
  by: z.string().nullable(),
  text: z.string(),
  /** The resulting status, or the outcome of an attempt. */
  status: z.string().nullable(),
  /** The id of the delivery, refund, dispute, settlement or payout; an attempt has its delivery's. */
  ref: z.string().nullable(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

/** A transition that is possible now: a row of the subject's own transition table. */
export const NextStep = z.strictObject({
  on: z.string(),
  to: z.string(),
  /** The actor that can cause it. */
  by: z.string(),
  /** When it happens by itself; null where an actor has to cause it. */
  at: Timestamp.nullable(),
  /** The command for it; null where the caller can't cause it. */
  how: z.string().nullable(),
  /** The webhook that announces it; null where nothing is announced. */
  webhook: z.string().nullable(),
})
export type NextStep = z.infer<typeof NextStep>

/** An action that does not change the subject's status. */
export const OtherStep = z.strictObject({ what: z.string(), by: z.string(), how: z.string().nullable() })
export type OtherStep = z.infer<typeof OtherStep>

/**
 * The timeline of a payment, delivery, dispute, settlement, payout or merchant, why it has its status, and what can
 * happen next.
 */
export const Explanation = z.strictObject({
  kind: z.enum(['payment', 'delivery', 'dispute', 'settlement', 'payout', 'merchant']),
  id: Uuid,
  merchant_id: Uuid,
  title: z.string().meta({ description: 'the subject in a few words', examples: ['payment of 50.00 GBP'] }),
  status: z.string(),
  standing: z.string().meta({ description: 'the reason for its status, in one or two sentences' }),
  as_of: Timestamp.meta({ description: "when this was read, by the service's clock" }),
  timeline: z.array(TimelineEntry).meta({ description: 'oldest first' }),
  left_out: z
    .array(z.string())
    .meta({ description: 'notes on entries that the timeline omits because of its limits or the role' }),
  next: z.array(NextStep).meta({ description: 'empty in a final status' }),
  also: z.array(OtherStep),
})
export type Explanation = z.infer<typeof Explanation>

export const explainForMerchant = operation({
  name: 'explainForMerchant',
  method: 'GET',
  path: '/api/v1/portal/explain/{id}',
  summary: 'Explain a record of the merchant, or the merchant itself',
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
  summary: 'Explain any record, or a merchant',
  access: ['platform'],
  permission: 'read merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Explanation },
  errors: ['RESOURCE_NOT_FOUND'],
})
