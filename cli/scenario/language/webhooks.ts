import { z } from 'zod'
import type { VerbTable } from './verb-table.ts'
import { EventType } from '../../../src/wire/webhook-events.ts'
import { Delivery, DeliveryStatus } from '../../../src/wire/webhooks.ts'
import { HttpStatus, Matcher, PaymentReference, Wait, matchersOf } from './parts.ts'

export const ReceiverBehaviour = z.strictObject({
  /** One status per delivery, in turn; the last one repeats. */
  answers: z.array(HttpStatus).min(1).max(1_000).optional(),
  /** How long the receiver takes before it answers. */
  delay: Wait.optional(),
  /** Which secret the receiver verifies with from now on: a merchant deploys a new one when it suits. */
  secret: z.enum(['newest', 'previous']).optional(),
})

export const AwaitWebhook = z.strictObject({
  webhook: EventType,
  for: PaymentReference,
  status: DeliveryStatus.optional(),
  within: Wait.optional(),
})

export const ExpectWebhook = z.strictObject({
  ...matchersOf(Delivery),
  webhook: EventType,
  for: PaymentReference,
  /** What the receiver was sent. */
  payload: Matcher.optional(),
})

export const Webhooks = z.strictObject({
  for: PaymentReference,
  in_order: z.array(EventType).min(1),
  /** Whether nothing else may have come for this payment. */
  exactly: z.boolean().optional(),
  signed: z.boolean().optional(),
  within: Wait.optional(),
})

export const ReplayOne = z.strictObject({ webhook: EventType, for: PaymentReference })
export const ReplayMany = z.strictObject({
  status: z.literal('DEAD'),
  event_type: EventType.optional(),
  expect: z.strictObject({ matching: Matcher.optional(), queued: Matcher.optional() }).optional(),
})

export const WEBHOOK_VERBS = {
  webhooks: {
    schema: Webhooks,
    text: 'Checks that the receiver got these events for the payment in this order, with others between. `exactly`: no others.',
    examples: [
      'webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized] }',
      'webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized], exactly: true }',
    ],
  },
  receiver: {
    schema: ReceiverBehaviour,
    text: 'Sets how the receiver answers from now on, how late, and which secret it knows.',
    examples: [
      'receiver: { answers: [500] }',
      'receiver: { answers: [500, 200] }',
      'receiver: { delay: 6s }',
      'receiver: { secret: previous }',
    ],
  },
  replay: {
    schema: z.union([ReplayOne, ReplayMany]),
    text: 'Sends DEAD deliveries again, one or all.',
    examples: ['replay: { webhook: payment.settled, for: $p1 }', 'replay: { status: DEAD, expect: { matching: 3 } }'],
  },
} as const satisfies VerbTable
