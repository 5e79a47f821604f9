import { z } from 'zod'
import { SCHEME_NAMES } from '../../lib/account-identification.ts'
import { RefundStatus } from '../../wire/refunds.ts'

export const RefundRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  payment_intent_id: z.string(),
  /** The dispute whose resolution ordered it, if any. */
  dispute_id: z.string().nullable(),
  amount: z.string(),
  reason: z.string().nullable(),
  status: RefundStatus,
  failure_code: z.string().nullable(),
  request_fingerprint: z.string(),
  raw_payload: z.string(),
  /** Of a refund that goes to the bank in a file. */
  end_to_end_id: z.string().nullable(),
})
export type RefundRecord = z.infer<typeof RefundRecord>

/** A refund that a job asks the bank for, with the trace that it goes on in: of its request, or else of its payment. */
export const ClaimedRefund = RefundRecord.extend({ traceparent: z.string().nullable(), is_own_trace: z.boolean() })
export type ClaimedRefund = z.infer<typeof ClaimedRefund>

/** A refund in a merchant's list. */
export const ListedRefund = z.object({
  id: z.string(),
  payment_intent_id: z.string(),
  amount: z.string(),
  currency: z.string(),
  status: RefundStatus,
  reason: z.string().nullable(),
  failure_code: z.string().nullable(),
  bank_reference: z.string().nullable(),
  end_to_end_id: z.string().nullable(),
  sent_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type ListedRefund = z.infer<typeof ListedRefund>

/** The account that refunds of a payment go to: the number is sealed, and null where no bank has confirmed it. */
export const PayerAccount = z.object({
  merchant_id: z.string(),
  consent_id: z.string(),
  debtor_account_scheme: z.enum(SCHEME_NAMES).nullable(),
  debtor_identification: z.string().nullable(),
})
export type PayerAccount = z.infer<typeof PayerAccount>
