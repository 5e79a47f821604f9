import { z } from 'zod'
import {
  Amount,
  Currency,
  IdempotencyKey,
  IdParams,
  Limit,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  reasonText,
} from './common.ts'
import { operation } from './operation.ts'
import { Failure, PaymentStatus } from './payments.ts'
import { PAYOUT_FAILURES } from './payouts.ts'

/** The status of a refund at the bank. */
export const RefundStatus = z.enum(['PENDING', 'EXECUTED', 'FAILED'])

export const RefundPayment = z.strictObject({
  amount: Amount.optional(),
  reason: reasonText(255).optional(),
  refund_amount_available: Amount.optional(),
})
export type RefundPayment = z.infer<typeof RefundPayment>

export const Refund = z.strictObject({
  payment_id: Uuid,
  status: PaymentStatus,
  refund_id: Uuid,
  refund_status: RefundStatus,
  refunded_amount: Money,
  remaining_amount: Money,
})
export type Refund = z.infer<typeof Refund>

export const refundPayment = operation({
  name: 'refundPayment',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payments/{id}/refund',
  summary: 'Refund a settled payment, in full or in part',
  access: ['merchant'],
  permission: 'refund payments',
  evenIfInactive: true,
  params: IdParams,
  query: None,
  headers: z.object({ 'x-idempotency-key': IdempotencyKey.optional() }),
  body: RefundPayment.optional(),
  bodyOptional: true,
  replies: { 200: Refund, 202: Refund },
  errors: [
    'PAYMENT_NOT_FOUND',
    'PAYMENT_NOT_SETTLED',
    'PAYMENT_ALREADY_REFUNDED',
    'REFUND_EXCEEDS_AVAILABLE',
    'REFUND_AVAILABLE_MISMATCH',
    'REFUND_REFUSED',
    'REFUND_ACCOUNT_UNKNOWN',
    'IDEMPOTENCY_KEY_REUSED',
  ],
})

/** A refund with its status. */
export const RefundRow = z.strictObject({
  refund_id: Uuid,
  payment_id: Uuid,
  amount: Money,
  currency: Currency,
  refund_status: RefundStatus,
  reason: z.string().nullable(),
  failure: Failure.nullable(),
  bank_reference: z.string().nullable(),
  carried_by: z
    .enum(['api', 'file'])
    .meta({ description: "what takes it to the bank: its API, or an operator's file" }),
  sent_at: Timestamp.nullable().meta({ description: 'when a file took it to the bank' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type RefundRow = z.infer<typeof RefundRow>

export const listRefunds = operation({
  name: 'listRefunds',
  method: 'GET',
  path: '/api/v1/payments/{id}/refunds',
  summary: "List a payment's refunds, oldest first",
  access: ['merchant'],
  permission: 'read payments',
  params: IdParams,
  query: z.strictObject({ limit: Limit, cursor: z.string().max(64).optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(RefundRow) },
  errors: ['PAYMENT_NOT_FOUND'],
})

const FailRefund = z.strictObject({
  failure_code: z.enum(PAYOUT_FAILURES).default('BANK_ERROR'),
  reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }),
})
export type FailRefund = z.output<typeof FailRefund>

export const failRefund = operation({
  name: 'failRefund',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/refunds/{id}/fail',
  summary: 'End a refund as failed',
  description:
    'For a bank whose answers can be read in no file: the refund has FAILED, and its amount can be refunded again. A refund ' +
    'that the bank has made after all would be paid twice. A refund that no file has taken ends so only where none can, as ' +
    "the payer's account can't be opened or no account of ours pays its currency, or where it waits for the API of a bank " +
    'that has none for refunds or is not configured any more.',
  access: ['platform'],
  permission: 'operate merchants',
  needsFreshSignIn: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: FailRefund,
  replies: { 200: RefundRow },
  errors: ['REFUND_NOT_FOUND', 'REFUND_NOT_FAILABLE'],
})
