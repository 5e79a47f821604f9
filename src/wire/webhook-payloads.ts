import { z } from 'zod'
import { Currency, Money, Timestamp, Uuid } from './common.ts'
import { ConsentType } from './mandate-fields.ts'
import { EventType } from './webhook-events.ts'

/** Of webhooks, whose members are in camel case (contract §Webhook events). Made-up events have it, real ones do not. */
const test = z.literal(true).optional().meta({ description: 'only in events of svc webhooks test and of trials' })
const Sequence = z.int().meta({ description: 'counts the events of its subject: a lower one is older' })

export const WebhookFailure = z.object({
  code: z.string().meta({ examples: ['INSUFFICIENT_FUNDS'] }),
  reason: z.string(),
  source: z.string().meta({ examples: ['ASPSP_REJECTION'] }),
  isoCode: z.string().meta({ examples: ['AM04'] }),
})

export const WebhookPaymentStatus = z.enum([
  'INITIATED',
  'AWAITING_AUTHORISATION',
  'AUTHORISED',
  'SETTLED',
  'FAILED',
  'REFUNDED',
])

/** `data` of payment and refund events. */
export const TransactionData = z.object({
  object: z.literal('transaction'),
  id: Uuid,
  endToEndId: z.string(),
  consentId: Uuid,
  merchantId: Uuid,
  financials: z.object({ grossAmount: Money, feeAmount: Money, netAmount: Money, currency: Currency }),
  status: WebhookPaymentStatus,
  previousStatus: WebhookPaymentStatus.nullable(),
  bankDetails: z.object({ providerId: z.string().nullable() }),
  failure: WebhookFailure.nullable(),
  sequence: Sequence,
  refund: z.object({ id: Uuid, amount: Money, refundedTotal: Money }).optional(),
  test,
})

/** `data` of dispute events. */
export const DisputeData = z.object({
  object: z.literal('dispute'),
  id: Uuid,
  paymentId: Uuid,
  endToEndId: z.string(),
  merchantId: Uuid,
  openedBy: z.string().meta({ examples: ['PAYER'] }),
  reason: z.string().meta({ examples: ['ITEM_NOT_RECEIVED'] }),
  status: z.string().meta({ examples: ['OPEN'] }),
  amount: z.object({ grossAmount: Money, currency: Currency }),
  payerStatement: z.string().nullable(),
  evidenceDueAt: Timestamp,
  openedAt: Timestamp,
  resolvedAt: Timestamp.nullable(),
  resolutionNote: z.string().nullable(),
  refunded: z.boolean(),
  sequence: Sequence,
  test,
})

/** `data` of mandate events. */
export const ConsentData = z.object({
  object: z.literal('consent'),
  id: Uuid,
  merchantId: Uuid,
  firstPaymentId: Uuid,
  consentType: ConsentType,
  status: z.string().meta({ examples: ['REVOKED'] }),
  currency: Currency,
  revokedBy: z
    .string()
    .nullable()
    .meta({ examples: ['PAYER'] }),
  validTo: Timestamp.nullable(),
  test,
})

/** `data` of payout events. */
export const PayoutData = z.object({
  object: z.literal('payout'),
  id: Uuid,
  endToEndId: z.string(),
  merchantId: Uuid,
  financials: z.object({ amount: Money, currency: Currency }),
  status: z.string().meta({ examples: ['PAID'] }),
  previousStatus: z.string().nullable(),
  bankAccountId: Uuid,
  bankReference: z.string().nullable(),
  failure: WebhookFailure.nullable(),
  sequence: Sequence,
  test,
})

function eventOf<T extends z.ZodType>(data: T) {
  return z.object({
    eventId: z.string().meta({ description: 'the same in every delivery of the event: use it to ignore repetitions' }),
    eventType: EventType,
    apiVersion: z.literal('v1'),
    createdAt: Timestamp,
    data,
  })
}

export const TransactionWebhook = eventOf(TransactionData)
export const DisputeWebhook = eventOf(DisputeData)
export const ConsentWebhook = eventOf(ConsentData)
export const PayoutWebhook = eventOf(PayoutData)

/** The body of a webhook, by the type of its event. */
export function payloadOf(eventType: EventType): z.ZodType {
  switch (eventType.split('.')[0]) {
    case 'dispute':
      return DisputeWebhook
    case 'consent':
      return ConsentWebhook
    case 'payout':
      return PayoutWebhook
    default:
      return TransactionWebhook
  }
}
