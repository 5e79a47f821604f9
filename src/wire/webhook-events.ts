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
  'payout.created',
  'payout.paid',
  'payout.failed',
  'payout.returned',
])
export type EventType = z.infer<typeof EventType>

/** When each event is sent. A total record: a new event without a text does not compile. */
export const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  'payment.initiated': 'A payment was created, and its payer can authorise it at the bank.',
  'payment.authorized': 'The payer authorised the payment at the bank. No money has arrived yet.',
  'payment.settled': 'The money has arrived. Deliver the goods on this event.',
  'payment.failed': 'The payment ended without money: cancelled, rejected or expired. `failure` has the reason.',
  'payment.refunded': 'The whole amount has been given back.',
  'payment.partially_refunded': 'A part of the amount has been given back. The payment stays `Settled`.',
  'refund.failed': 'The bank rejected a refund. The money stays with the merchant, and the refund can be tried again.',
  'dispute.opened': 'The payer, the merchant or the platform disputes the payment. Evidence is due in 14 days.',
  'dispute.escalated': 'An operator passed the dispute to an OWNER of the platform.',
  'dispute.resolved': 'The dispute is decided, for the merchant or for the payer.',
  'consent.revoked': 'The payer or the merchant ended a mandate; `revokedBy` names who did. Not sent when it expires.',
  'payout.created': 'What closed settlements owe is about to be sent to a bank account of the merchant.',
  'payout.paid': 'The bank has carried out the payout.',
  'payout.failed': 'The payout was not made. The next one includes its money; `failure` has the reason.',
  'payout.returned':
    'The payout came back after it was paid, for example from a closed account. The next one includes its money.',
}
