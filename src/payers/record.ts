import { z } from 'zod'
import { DisputeReason, DisputeStatus } from '../wire/dispute-fields.ts'
import { ConsentType } from '../wire/mandate-fields.ts'
import { PaymentStatus } from '../wire/payments.ts'

/** The outbox's realm for messages to payers. No merchant's realm has this name: a slug has no space. */
export const PAYER_MAIL_REALM = 'payer hub'

const ContactType = z.enum(['EMAIL', 'PHONE'])

/**
 * An e-mail address in lower case, or a phone number in E.164 form (decision 41), and the hash by which the database finds
 * it (decision 277).
 */
export type Contact = { type: z.infer<typeof ContactType>; value: string; hash: string }

/** A payer's session; signing out inserts its id into the table of ended sessions. */
export type PayerSessionRecord = { id: string; contact: Contact; expiresAt: string }

/** A request for a link that is not handled yet. */
export const LinkRequest = z.object({
  id: z.string(),
  contact_type: ContactType,
  /** Sealed. */
  contact: z.string(),
  contact_hash: z.string(),
  request_ip_hash: z.string(),
  /** Of the requester, such as `cy`. */
  language: z.string(),
  /** Whether it is recent enough that the requester still waits for a link. */
  is_fresh: z.boolean(),
  /** Whether some consent has the contact. */
  is_known: z.boolean(),
})
export type LinkRequest = z.infer<typeof LinkRequest>

/** A token that was just used, with its contact, sealed. */
export const UsedToken = z.object({
  id: z.string(),
  contact_type: ContactType,
  contact: z.string(),
  contact_hash: z.string(),
})
export type UsedToken = z.infer<typeof UsedToken>

/** A payment as its payer sees it. Amounts are numeric(19,4) text. */
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
  /** Of those that payers have opened. */
  dispute_count: z.int(),
  is_within_window: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type PayerPaymentRecord = z.infer<typeof PayerPaymentRecord>

/** An executed refund. */
export const PayerRefundRecord = z.object({ amount: z.string(), refunded_at: z.string() })
export type PayerRefundRecord = z.infer<typeof PayerRefundRecord>

/** The merchant of a payer's own consent. */
export const OwnConsent = z.object({ merchant_id: z.string() })
export type OwnConsent = z.infer<typeof OwnConsent>
