import { z } from 'zod'
import { DisputeReason, DisputeStatus } from '../wire/disputes.ts'
import { ConsentType } from '../wire/mandate-fields.ts'
import { PaymentStatus } from '../wire/payments.ts'

const ContactType = z.enum(['EMAIL', 'PHONE'])

/** An e-mail address or phone number as payers are known by it: in lower case, or in E.164 form (decision 41). */
export type Contact = { type: z.infer<typeof ContactType>; value: string }

/** A payer's session: whose it is, and its own id, which signing out puts on the list of those that ended. */
export type PayerSessionRecord = { id: string; contact: Contact; expiresAt: string }

/** A request for a link that nobody has looked at yet. */
export const LinkRequest = z.object({
  id: z.string(),
  contact_type: ContactType,
  contact_normalised: z.string(),
  request_ip_hash: z.string(),
  /** Whether a link is still of use to who asked for it. */
  is_fresh: z.boolean(),
  /** Whether the contact stands on some consent. */
  is_known: z.boolean(),
})
export type LinkRequest = z.infer<typeof LinkRequest>

/** Whose token it was that has just been used. */
export const UsedToken = z.object({ contact_type: ContactType, contact_normalised: z.string() })
export type UsedToken = z.infer<typeof UsedToken>

/** A payment with what its payer sees of it. Amounts are numeric(19,4) text. */
export const PayerPaymentRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  consent_id: z.string(),
  consent_type: ConsentType,
  status: PaymentStatus,
  end_to_end_id: z.string(),
  merchant_name: z.string(),
  gross_amount: z.string(),
  fee_amount: z.string(),
  net_amount: z.string(),
  refunded_amount: z.string(),
  currency: z.string(),
  remittance_reference: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_source: z.string().nullable(),
  dispute_id: z.string().nullable(),
  dispute_status: DisputeStatus.nullable(),
  dispute_reason: DisputeReason.nullable(),
  dispute_opened_at: z.string().nullable(),
  dispute_resolution_note: z.string().nullable(),
  dispute_count: z.int(),
  is_within_window: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type PayerPaymentRecord = z.infer<typeof PayerPaymentRecord>

/** Money that the bank has given back. */
export const PayerRefundRecord = z.object({ amount: z.string(), refunded_at: z.string() })
export type PayerRefundRecord = z.infer<typeof PayerRefundRecord>

/** Where a consent of the payer's own is. */
export const OwnConsent = z.object({ merchant_id: z.string() })
export type OwnConsent = z.infer<typeof OwnConsent>
