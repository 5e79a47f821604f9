import { z } from 'zod'

/** The types of webhook events (contract §Webhook events; decisions 21 and 24). */
export const EventType = z.enum([
  'payment.initiated',
  'payment.authorized',
  'payment.settled',
  'payment.failed',
  'payment.refunded',
  'payment.partially_refunded',
  'refund.failed',
  'dispute.opened',
  'dispute.escalated',
  'dispute.resolved',
  'consent.revoked',
])
export type EventType = z.infer<typeof EventType>
