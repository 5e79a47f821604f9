import { z } from 'zod'
import {
  Amount,
  Currency,
  EXAMINED_PAGES,
  IdParams,
  IdempotencyKey,
  Instant,
  Limit,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  text,
} from './common.ts'
import { ConsentType } from './mandate-fields.ts'
import { CheckoutPayment, CreatePayment } from './new-payment.ts'
import { operation } from './operation.ts'

export const PaymentStatus = z.enum([
  'Initiated',
  'AwaitingAuthorisation',
  'Authorised',
  'Settled',
  'Failed',
  'Refunded',
])
export type PaymentStatus = z.infer<typeof PaymentStatus>

export const ConsentStatus = z.enum(['AWAITING_AUTHORISATION', 'AUTHORISED', 'REJECTED', 'REVOKED', 'EXPIRED'])
export type ConsentStatus = z.infer<typeof ConsentStatus>

const amounts = { gross_amount: Money, fee_amount: Money, net_amount: Money, currency: Currency }

/** The response to a creation and to a repeated request (decision 14). */
export const CreatedPayment = z.strictObject({
  payment_id: Uuid,
  status: PaymentStatus,
  redirect_url: z.string().nullable(),
  end_to_end_id: z.string(),
  ...amounts,
  consent_id: Uuid,
  expires_at: Timestamp,
  created_at: Timestamp,
  payment_state: z
    .string()
    .optional()
    .meta({ description: "the payer's credential for this payment; only in responses to a checkout token" }),
})
export type CreatedPayment = z.infer<typeof CreatedPayment>

export const Failure = z.strictObject({
  code: z.string(),
  reason: z.string(),
  source: z.string(),
  iso_code: z.string(),
})

/** A payment in lists (decision 51). */
export const PaymentSummary = z.strictObject({
  payment_id: Uuid,
  status: PaymentStatus,
  end_to_end_id: z.string(),
  consent_id: Uuid,
  consent_type: ConsentType,
  consent_status: ConsentStatus,
  ...amounts,
  refunded_amount: Money,
  redirect_uri: z.string().nullable().meta({ description: 'null for a payment under a mandate' }),
  redirect_url: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  payer_name: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  failure: Failure.nullable(),
  expires_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type PaymentSummary = z.infer<typeof PaymentSummary>

/** The actor that changed a payment (contract §Payment event). */
export const ChangedBy = z.enum(['MERCHANT_API', 'BANK_CALLBACK', 'BATCH_JOB'])
export type ChangedBy = z.infer<typeof ChangedBy>

export const StatusChange = z.strictObject({
  ordinal: z
    .string()
    .meta({ description: 'increases with every event of the service; a decimal string, because it exceeds a double' }),
  previous_status: PaymentStatus.nullable(),
  new_status: PaymentStatus,
  changed_by: ChangedBy,
  created_at: Timestamp,
})

export const Payment = PaymentSummary.extend({ status_history: z.array(StatusChange) })
export type Payment = z.infer<typeof Payment>

/** A payment for the payer's browser, which has its `state` (decision 66): without payer data and metadata. */
export const PayerView = z.strictObject({
  payment_id: Uuid,
  status: PaymentStatus,
  end_to_end_id: z.string(),
  ...amounts,
  refunded_amount: Money,
  failure: Failure.nullable(),
  expires_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
  status_history: z.array(StatusChange),
})
export type PayerView = z.infer<typeof PayerView>

export const PaymentEvent = StatusChange.extend({
  id: Uuid,
  raw_payload_sha256: z.string(),
  prev_hash: z.string(),
  event_hash: z.string(),
})
export type PaymentEvent = z.infer<typeof PaymentEvent>

export const ListQuery = z.strictObject({
  limit: Limit,
  cursor: z.string().max(256).optional(),
  status: PaymentStatus.optional(),
  from: Instant.optional(),
  to: Instant.optional(),
  currency: Currency.optional(),
  min_amount: Amount.optional(),
  max_amount: Amount.optional(),
  end_to_end_id: text(35).optional(),
  bank_id: text(50).optional(),
})
export type PaymentListQuery = z.infer<typeof ListQuery>

export const ScaComplete = z.union([
  z.strictObject({ state: text(256), code: text(512) }),
  z.strictObject({ state: text(256), error: text(64), error_description: text(1024).optional() }),
])
export type ScaComplete = z.infer<typeof ScaComplete>

export const ScaCompleted = z.strictObject({
  payment_id: Uuid,
  status: PaymentStatus,
  end_to_end_id: z.string(),
  failure: Failure.nullable(),
})

export const createPayment = operation({
  name: 'createPayment',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payments',
  summary: 'Create a payment',
  description: "Returns the address of the payer's bank to redirect the payer to.",
  access: ['merchant', 'checkout-token'],
  permission: 'create payments',
  // A repeated request gets its first response in any case; the statement that creates payments checks the merchant.
  evenIfInactive: true,
  params: None,
  query: None,
  headers: z.object({ 'x-idempotency-key': IdempotencyKey.optional(), 'x-sandbox-scenario': text(64).optional() }),
  body: CreatePayment,
  bodyWithCheckoutToken: CheckoutPayment,
  replies: { 201: CreatedPayment, 200: CreatedPayment },
  errors: [
    'IDEMPOTENCY_KEY_MISSING',
    'IDEMPOTENCY_KEY_REUSED',
    'UNSUPPORTED_CURRENCY',
    'AMOUNT_BELOW_FEE',
    'MERCHANT_NOT_APPROVED',
    'MERCHANT_INACTIVE',
    'PAYOUT_HELD',
    'BANK_UNAVAILABLE',
    'BANK_NOT_CONFIGURED',
    'CONSENT_NOT_FOUND',
    'MANDATE_NOT_USABLE',
    'MANDATE_LIMIT_EXCEEDED',
    'CHECKOUT_ALREADY_PAID',
    'CHECKOUT_ATTEMPTS_USED',
  ],
})

export const listPayments = operation({
  name: 'listPayments',
  method: 'GET',
  path: '/api/v1/payments',
  summary: 'List payments, newest first',
  description: EXAMINED_PAGES,
  access: ['merchant'],
  permission: 'read payments',
  params: None,
  query: ListQuery,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(PaymentSummary) },
  errors: [],
})

export const getPayment = operation({
  name: 'getPayment',
  method: 'GET',
  path: '/api/v1/payments/{id}',
  summary: 'Get a payment with its status history',
  access: ['merchant', 'payment-state'],
  permission: 'read payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.union([Payment, PayerView]) },
  errors: ['PAYMENT_NOT_FOUND'],
})

export const listPaymentEvents = operation({
  name: 'listPaymentEvents',
  method: 'GET',
  path: '/api/v1/payments/{id}/events',
  summary: "List a payment's audit events with their hashes",
  access: ['merchant'],
  permission: 'read payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(PaymentEvent) },
  errors: ['PAYMENT_NOT_FOUND'],
})

export const completeSca = operation({
  name: 'completeSca',
  method: 'POST',
  path: '/api/v1/payments/{id}/sca-complete',
  summary: 'Complete a bank redirect',
  description: 'Submits the parameters that the bank redirected the payer back with.',
  access: ['anyone'],
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: ScaComplete,
  replies: { 200: ScaCompleted },
  errors: ['PAYMENT_NOT_FOUND', 'STATE_MISMATCH', 'CODE_INVALID', 'CONSENT_EXPIRED', 'BANK_UNAVAILABLE'],
})

export const cancelPayment = operation({
  name: 'cancelPayment',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payments/{id}/cancel',
  summary: 'Cancel a payment that is not yet authorised',
  access: ['merchant', 'payment-state'],
  permission: 'create payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: None.optional(),
  bodyOptional: true,
  replies: { 200: z.union([Payment, PayerView]) },
  errors: ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_CANCELLABLE'],
})
