import { z } from 'zod'
import { ConsentType } from '../wire/mandate-fields.ts'
import { ConsentStatus } from '../wire/payments.ts'
import type { Caps } from './control-parameters.ts'
import type { Period } from './periods.ts'

/** A mandate with the count and time of the payments under it. */
export const MandateRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  merchant_name: z.string(),
  consent_type: ConsentType,
  /** By the clock: EXPIRED from its end on, even before the job has expired it. */
  status: ConsentStatus,
  /** Whether its payer has neither authorised nor rejected it; the time for that may be over. */
  is_unanswered: z.boolean(),
  currency: z.string(),
  control_parameters: z.unknown(),
  payer_name: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  first_payment_id: z.string(),
  payment_count: z.int(),
  last_payment_at: z.string().nullable(),
  valid_to: z.string(),
  expires_at: z.string(),
  revoked_by: z.enum(['PAYER', 'MERCHANT']).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  /** When it was created; earlier where the sandbox clock was advanced since. */
  counts_from: z.string(),
  /** The statement's time by the database's clock, as of which caps are computed. */
  now: z.string(),
})
export type MandateRecord = z.infer<typeof MandateRecord>

/** The used and remaining amounts of a period's cap, as numeric(19,4) text; the remaining one is never negative. */
export type AllowanceRecord = {
  period: Period
  max_amount: string
  used_amount: string
  remaining_amount: string
  /** When the next period begins, ISO 8601. */
  resets_at: string
}

export type MandateWithAllowances = MandateRecord & { caps: Caps; allowances: readonly AllowanceRecord[] }

/** A consent whose row is locked, for payments under it and for its end. */
export const LockedConsent = z.object({
  id: z.string(),
  consent_type: ConsentType,
  status: ConsentStatus,
  currency: z.string(),
  control_parameters: z.unknown(),
  debtor_bank_id: z.string().nullable(),
  bank_consent_reference: z.string().nullable(),
  /** The connector of its first payment, whose bank knows the mandate. */
  bank_connector: z.string(),
  expires_at: z.string(),
  created_at: z.string(),
  revoked_by: z.enum(['PAYER', 'MERCHANT']).nullable(),
  /** Whether its end has passed by the database's clock. */
  is_over: z.boolean(),
  /** When it was created; earlier where the sandbox clock was advanced since. */
  counts_from: z.string(),
  now: z.string(),
})
export type LockedConsent = z.infer<typeof LockedConsent>

/** A mandate that has ended, which must be reported to its bank. */
export const EndedMandate = z.object({
  id: z.string(),
  merchant_id: z.string(),
  bank_consent_reference: z.string(),
  bank_connector: z.string(),
})
export type EndedMandate = z.infer<typeof EndedMandate>

/** The amount paid under one mandate since an instant. */
export const UsedAmount = z.object({ ord: z.bigint(), used_amount: z.string() })
export type UsedAmount = z.infer<typeof UsedAmount>

/** A payer's contact as consents have it (decision 277). */
export type PayerContactHash = { type: 'EMAIL' | 'PHONE'; hash: string }
