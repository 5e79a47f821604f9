import { z } from 'zod'
import { NoBody, None } from './common.ts'
import {
  AccountAnswer,
  AccountIdentification,
  AmountResponse,
  CurrencyAmount,
  DateTime,
  InteractionHeaders,
  KeyedHeaders,
  Moment,
  Paging,
  RemittanceInformation,
  pageOf,
} from './open-banking.ts'
import { operation } from './operation.ts'

/**
 * The order of a recurring payment (contract §RecurringPaymentInitiation). DebtorAccount and
 * RemittanceInformation are additions (decision 59).
 */
export const RecurringPaymentInitiation = z.strictObject({
  /** One of four forms (lib/frequency.ts, decision 4). */
  Frequency: z.string().max(64),
  FirstPaymentDateTime: DateTime,
  NextPaymentDateTime: DateTime.optional(),
  FinalPaymentDateTime: DateTime.optional(),
  InstructedAmount: CurrencyAmount,
  CreditorAccount: AccountIdentification,
  DebtorAccount: AccountIdentification.optional(),
  RemittanceInformation: RemittanceInformation.optional(),
})
export type RecurringPaymentInitiation = z.output<typeof RecurringPaymentInitiation>

/** The status of the arrangement, not of its runs (decision 2). */
export const RecurringStatus = z.enum(['InitiationPending', 'InitiationFailed', 'InitiationCompleted', 'Cancelled'])
export type RecurringStatus = z.infer<typeof RecurringStatus>

export const RecurringPaymentResponse = z.strictObject({
  RecurringPaymentId: z.string(),
  Status: RecurringStatus,
  CreationDateTime: Moment,
  StatusUpdateDateTime: Moment,
  Frequency: z.string(),
  FirstPaymentDateTime: Moment,
  NextPaymentDateTime: Moment.optional(),
  FinalPaymentDateTime: Moment.optional(),
  InstructedAmount: AmountResponse,
  DebtorAccountId: z.string(),
  CreditorAccount: AccountAnswer,
  RemittanceInformation: z.strictObject({ Reference: z.string() }).optional(),
  /** When the next payment is due; absent after the last one. */
  NextRunDateTime: Moment.optional(),
  NumberOfPayments: z.int().meta({ description: 'runs so far' }),
  LastPayment: z
    .strictObject({ PaymentId: z.string(), Status: z.string(), StatusReasonCode: z.string().optional() })
    .optional(),
})
export type RecurringPaymentResponse = z.infer<typeof RecurringPaymentResponse>

const Params = z.strictObject({ RecurringPaymentId: z.string() })
const shared = { access: ['customer'], params: None, query: None, headers: InteractionHeaders, body: NoBody } as const

export const createRecurring = operation({
  ...shared,
  name: 'createRecurring',
  dryRun: true,
  method: 'POST',
  path: '/open-banking/v1/recurring-payments',
  summary: 'Create a recurring payment',
  scopes: ['payments'],
  headers: KeyedHeaders,
  body: RecurringPaymentInitiation,
  replies: { 201: RecurringPaymentResponse },
  errors: ['IDEMPOTENCY_KEY_REUSED'],
})

export const listRecurring = operation({
  ...shared,
  name: 'listRecurring',
  method: 'GET',
  path: '/open-banking/v1/recurring-payments',
  summary: "List the caller's recurring payments, newest first",
  scopes: ['payments', 'accounts'],
  query: Paging,
  replies: { 200: pageOf(RecurringPaymentResponse) },
  errors: [],
})

export const getRecurring = operation({
  ...shared,
  name: 'getRecurring',
  method: 'GET',
  path: '/open-banking/v1/recurring-payments/{RecurringPaymentId}',
  summary: 'Get a recurring payment with its next run',
  scopes: ['payments', 'accounts'],
  params: Params,
  replies: { 200: RecurringPaymentResponse },
  errors: ['RECURRING_PAYMENT_NOT_FOUND'],
})

export const cancelRecurring = operation({
  ...shared,
  name: 'cancelRecurring',
  dryRun: true,
  method: 'DELETE',
  path: '/open-banking/v1/recurring-payments/{RecurringPaymentId}',
  summary: 'Cancel a recurring payment',
  description: 'There are no further runs.',
  scopes: ['payments'],
  params: Params,
  replies: { 204: NoBody },
  errors: ['RECURRING_PAYMENT_NOT_FOUND', 'RECURRING_PAYMENT_NOT_CANCELLABLE'],
})
