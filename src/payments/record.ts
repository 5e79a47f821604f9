import { z } from 'zod'
import { SCHEME_NAMES } from '../lib/account-identification.ts'
import type { SchemeName } from '../lib/account-identification.ts'
import type { FailureCode, FailureSource } from '../lib/failure-codes.ts'
import { ConsentType } from '../wire/mandate-fields.ts'
import { ChangedBy, ConsentStatus, PaymentStatus } from '../wire/payments.ts'

/** A payment with its consent, as all use cases read it. Amounts are numeric(19,4) text. */
export const PaymentRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  consent_id: z.string(),
  status: PaymentStatus,
  end_to_end_id: z.string(),
  gross_amount: z.string(),
  fee_amount: z.string(),
  net_amount: z.string(),
  refunded_amount: z.string(),
  refund_reserved_amount: z.string(),
  currency: z.string(),
  redirect_uri: z.string().nullable(),
  redirect_url: z.string().nullable(),
  return_url: z.string().nullable(),
  order_id: z.string().nullable(),
  under_mandate: z.boolean(),
  metadata: z.record(z.string(), z.string()).nullable(),
  failure_code: z.string().nullable(),
  failure_source: z.string().nullable(),
  bank_consent_id: z.string(),
  bank_connector: z.string(),
  bank_reference: z.string().nullable(),
  consent_type: ConsentType,
  consent_status: ConsentStatus,
  debtor_bank_id: z.string().nullable(),
  payer_name: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  sandbox_scenario: z.string().nullable(),
  expires_at: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** Whether the consent's end has passed by the database's clock. */
  consent_ended: z.boolean(),
  /**
   * Whether the payer's `state` still opens the payment: until an hour after the consent's end (decision 66), and with
   * the first payment of a mandate, which lives long, for 25 hours at most.
   */
  state_valid: z.boolean(),
})
export type PaymentRecord = z.infer<typeof PaymentRecord>

/** A row of a payment's history. */
export const StatusChangeRecord = z.object({
  ordinal: z.string(),
  previous_status: PaymentStatus.nullable(),
  new_status: PaymentStatus,
  changed_by: ChangedBy,
  created_at: z.string(),
})
export type StatusChangeRecord = z.infer<typeof StatusChangeRecord>

export const PaymentWithHistory = PaymentRecord.extend({ status_history: z.array(StatusChangeRecord) })
export type PaymentWithHistory = z.infer<typeof PaymentWithHistory>

/** A row of the batched look-up: `id` is null for an unknown payment and for another merchant's. */
export const FoundPayment = z.union([
  PaymentWithHistory.extend({ ord: z.bigint() }),
  z.object({ ord: z.bigint(), id: z.null() }),
])
export type FoundPayment = z.infer<typeof FoundPayment>

/** A row of `create_payments` for one item; the payment's columns are null where it rejected the payment. */
export const CreateOutcome = z.object({
  ord: z.bigint(),
  outcome: z.string(),
  payment_id: z.string().nullable(),
  status: PaymentStatus.nullable(),
  end_to_end_id: z.string().nullable(),
  gross_amount: z.string().nullable(),
  fee_amount: z.string().nullable(),
  net_amount: z.string().nullable(),
  currency: z.string().nullable(),
  consent_id: z.string().nullable(),
  redirect_url: z.string().nullable(),
  expires_at: z.string().nullable(),
  created_at: z.string().nullable(),
})
export type CreateOutcome = z.infer<typeof CreateOutcome>

/** A row of `move_payments` for one item. */
export const MoveOutcome = z.object({
  ord: z.bigint(),
  outcome: z.enum(['MOVED', 'STALE']),
  status: PaymentStatus.nullable(),
  expires_at: z.string().nullable(),
})
export type MoveOutcome = z.infer<typeof MoveOutcome>

export const PaymentEventRecord = StatusChangeRecord.extend({
  id: z.string(),
  raw_payload_sha256: z.string(),
  prev_hash: z.string(),
  event_hash: z.string(),
})
export type PaymentEventRecord = z.infer<typeof PaymentEventRecord>

/** A payment that is due for settlement. */
export const DueSettlement = z.object({
  id: z.string(),
  merchant_id: z.string(),
  consent_id: z.string(),
  end_to_end_id: z.string(),
  bank_consent_id: z.string(),
  bank_connector: z.string(),
  gross_amount: z.string(),
  currency: z.string(),
  /** Whether an operator is to ask its bank. */
  is_unanswered: z.boolean(),
  traceparent: z.string().nullable(),
})
export type DueSettlement = z.infer<typeof DueSettlement>

/** A payment that still waits after the end of its consent. */
export const ExpiredPayment = z.object({
  id: z.string(),
  merchant_id: z.string(),
  status: PaymentStatus,
  /** As PostgreSQL writes it: what is compared with it needs the microseconds. */
  expires_at: z.string(),
})
export type ExpiredPayment = z.infer<typeof ExpiredPayment>

/** An Initiated payment that must be staged at a remote bank. */
export const UnstagedPayment = z.object({
  id: z.string(),
  merchant_id: z.string(),
  consent_id: z.string(),
  end_to_end_id: z.string(),
  bank_consent_id: z.string(),
  bank_connector: z.string(),
  gross_amount: z.string(),
  currency: z.string(),
  redirect_uri: z.string(),
  debtor_bank_id: z.string().nullable(),
  debtor_account_scheme: z.enum(SCHEME_NAMES).nullable(),
  debtor_identification: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  sandbox_scenario: z.string().nullable(),
  /** Only for the first payment of a mandate; else null. */
  control_parameters: z.unknown(),
  valid_to: z.string().nullable(),
  trading_name: z.string(),
  traceparent: z.string().nullable(),
})
export type UnstagedPayment = z.infer<typeof UnstagedPayment>

/** An item of the parameter of the SQL function `create_payments`. */
export type NewPaymentItem = Record<string, unknown> & {
  merchant_id: string
  payment_id: string
  idempotency_key: string
}

/** An item of the parameter of the SQL function `move_payments`. */
export type PaymentMoveItem = {
  merchant_id: string
  payment_id: string
  from_status: PaymentStatus
  to_status: PaymentStatus
  consent_from: string | null
  consent_to: string | null
  consent_window: 'open' | 'ended' | null
  changed_by: ChangedBy
  raw_payload: string
  audit_id: string
  delivery_id: string
  event_id: string
  event_type: string | null
  failure_code: FailureCode | null
  failure_source: FailureSource | null
  failure: { code: string; reason: string; source: string; isoCode: string } | null
  bank_reference: string | null
  bank_consent_reference: string | null
  redirect_url: string | null
  settle_seconds: number | null
  refund: { id: string; amount: string; refundedTotal: string } | null
  refund_amount: string | null
  test: boolean
  debtor_account_scheme: SchemeName | null
  debtor_identification: string | null
  /** The trace of the change; without one, its webhook is in the trace of the payment. */
  traceparent: string | undefined
}
