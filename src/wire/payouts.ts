import type { FailureCode } from '../lib/failure-codes.ts'
import { z } from 'zod'
import {
  Currency,
  IdParams,
  Instant,
  Limit,
  MerchantNames,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  reasonText,
  text,
} from './common.ts'
import { operation } from './operation.ts'
import { Failure } from './payments.ts'

export const PayoutStatus = z.enum(['CREATED', 'SENT', 'PAID', 'FAILED', 'RETURNED'])
export type PayoutStatus = z.infer<typeof PayoutStatus>

export const Payout = z.strictObject({
  payout_id: Uuid,
  merchant_id: Uuid,
  currency: Currency,
  amount: Money,
  debt_deducted: Money.meta({
    description:
      'what the merchant owed since its settlements closed, kept back from them: they made this much more payable',
  }),
  status: PayoutStatus,
  bank_account_id: Uuid,
  connector: z.string().meta({ description: "what sends it: a bank's API, or file", examples: ['mock', 'file'] }),
  end_to_end_id: z.string(),
  bank_reference: z.string().nullable(),
  failure: Failure.nullable(),
  attempt_count: z.int().meta({ description: 'how often the bank was asked' }),
  next_attempt_at: Timestamp.nullable().meta({ description: 'when the bank is asked next, while CREATED or SENT' }),
  retry_at: Timestamp.nullable().meta({
    description:
      'when the next payout takes the money of a FAILED or RETURNED one; null where that waits for another bank account',
  }),
  created_at: Timestamp,
  sent_at: Timestamp.nullable(),
  paid_at: Timestamp.nullable(),
  failed_at: Timestamp.nullable(),
  returned_at: Timestamp.nullable(),
})
export type Payout = z.infer<typeof Payout>

export const PayoutWithEvents = Payout.extend({
  settlement_ids: z.array(Uuid).meta({
    description: 'the settlements that it pays, the oldest first, at most 100; none once the money came back',
  }),
  status_history: z.array(
    z.strictObject({
      previous_status: PayoutStatus.nullable(),
      new_status: PayoutStatus,
      changed_by: z.enum(['BATCH_JOB', 'OPERATOR']),
      created_at: Timestamp,
    }),
  ),
})
export type PayoutWithEvents = z.infer<typeof PayoutWithEvents>

/** Payouts as operators see them. */
export const AdminPayout = Payout.extend(MerchantNames)
export type AdminPayout = z.infer<typeof AdminPayout>
const AdminPayoutWithEvents = PayoutWithEvents.extend(MerchantNames)

const Filters = z.strictObject({
  limit: Limit,
  cursor: z.string().max(200).optional(),
  status: PayoutStatus.optional(),
  currency: Currency.optional(),
  from: Instant.optional().meta({ description: 'created at or after this time' }),
  to: Instant.optional().meta({ description: 'created before this time' }),
})

const shared = { headers: NoHeaders, params: None, query: None, body: NoBody } as const
const ofMerchants = { ...shared, access: ['merchant'], permission: 'read balances' } as const
const ofOperators = { ...shared, access: ['platform'], permission: 'read merchants' } as const

export const listPayouts = operation({
  ...ofMerchants,
  name: 'listPayouts',
  method: 'GET',
  path: '/api/v1/portal/payouts',
  summary: 'List payouts, newest first',
  query: Filters,
  replies: { 200: listOf(Payout) },
  errors: [],
})

export const getPayout = operation({
  ...ofMerchants,
  name: 'getPayout',
  method: 'GET',
  path: '/api/v1/portal/payouts/{id}',
  summary: 'Get a payout with its settlements and history',
  params: IdParams,
  replies: { 200: PayoutWithEvents },
  errors: ['PAYOUT_NOT_FOUND'],
})

export const listAdminPayouts = operation({
  ...ofOperators,
  name: 'listAdminPayouts',
  method: 'GET',
  path: '/api/v1/admin/payouts',
  summary: 'List payouts of all merchants, newest first',
  query: Filters.extend({ merchant_id: text(64).optional() }),
  replies: { 200: listOf(AdminPayout) },
  errors: [],
})

export const getAdminPayout = operation({
  ...ofOperators,
  name: 'getAdminPayout',
  method: 'GET',
  path: '/api/v1/admin/payouts/{id}',
  summary: 'Get a payout of any merchant',
  params: IdParams,
  replies: { 200: AdminPayoutWithEvents },
  errors: ['PAYOUT_NOT_FOUND'],
})

export const retryPayout = operation({
  ...ofOperators,
  permission: 'operate merchants',
  name: 'retryPayout',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payouts/{id}/retry',
  summary: 'Send a payout again, or its money in a new one',
  description:
    'After a failure or return a new payout is created, without waiting for its time or for another bank account; the ' +
    'response has it. For a payout that the bank has not answered, the bank is asked again.',
  params: IdParams,
  body: z.strictObject({ reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }) }),
  replies: { 200: Payout },
  errors: ['PAYOUT_NOT_FOUND', 'PAYOUT_NOT_RETRYABLE', 'PAYOUT_HELD', 'MERCHANT_NOT_APPROVED', 'MERCHANT_INACTIVE'],
})

/** What a bank can say of a payment that it has not made, by phone or on its pages. */
export const PAYOUT_FAILURES = [
  'BANK_ERROR',
  'INVALID_CREDITOR_ACCOUNT',
  'ACCOUNT_CLOSED',
  'ACCOUNT_BLOCKED',
  'INSUFFICIENT_FUNDS',
  'LIMIT_EXCEEDED',
] as const satisfies readonly FailureCode[]

/** How an operator ends a payout: as its bank says, or before it is sent. */
export const PAYOUT_ENDS = [...PAYOUT_FAILURES, 'CANCELLED_BY_PLATFORM'] as const satisfies readonly FailureCode[]

const FailPayout = z.strictObject({
  failure_code: z
    .enum(PAYOUT_ENDS)
    .default('BANK_ERROR')
    .meta({
      description:
        'after one of the account, the next payout waits for another account; CANCELLED_BY_PLATFORM is of one that is not ' +
        'sent yet, and the next payout does not wait',
    }),
  reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }),
})
export type FailPayout = z.output<typeof FailPayout>

export const failPayout = operation({
  ...ofOperators,
  permission: 'operate merchants',
  name: 'failPayout',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payouts/{id}/fail',
  summary: 'End a payout as failed, or cancel one that is not sent',
  description:
    'For a bank whose answers can be read in no file: the payout has FAILED, and its money is in the balance again. A ' +
    'payout that the bank has made after all would be paid twice. CANCELLED_BY_PLATFORM cancels one that is CREATED, which no ' +
    'bank and no file has: the next payout, to the newest account, takes its money as soon as the merchant may be paid.',
  params: IdParams,
  body: FailPayout,
  replies: { 200: Payout },
  errors: ['PAYOUT_NOT_FOUND', 'PAYOUT_NOT_FAILABLE'],
})
