import { z } from 'zod'
import { REQUEST_REASONS } from '../../lib/iso-reasons.ts'
import { PaymentRequestStatus } from '../../wire/payment-requests.ts'

export const PaymentRequestKind = z.enum(['RequestToPay', 'OfferToPay'])
export type PaymentRequestKind = z.infer<typeof PaymentRequestKind>

/**
 * A request to pay or an offer to pay (migrations/0014_payment_requests.sql). `customer_id` made it, `counterparty_id`
 * decides on it. An overdue one reads as expired, even before the job has run.
 */
export const PaymentRequestRecord = z.object({
  id: z.string(),
  customer_id: z.string(),
  counterparty_id: z.string(),
  kind: PaymentRequestKind,
  name: z.string(),
  identifier: z.string(),
  amount_minor: z.bigint(),
  currency: z.string(),
  /** `YYYY-MM-DD`; only of a request to pay. */
  due_date: z.string().nullable(),
  expires_at: z.string(),
  reference: z.string().nullable(),
  status: PaymentRequestStatus,
  status_reason_code: z.enum(REQUEST_REASONS).nullable(),
  /** The requester's account. */
  account_id: z.string(),
  payer_id: z.string(),
  order_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type PaymentRequestRecord = z.infer<typeof PaymentRequestRecord>

/** The customer with an identifier. `email` is the mail address, which may differ from the identifier. */
export const Counterparty = z.object({ id: z.string(), email: z.string().nullable() })
export type Counterparty = z.infer<typeof Counterparty>
