import { z } from 'zod'
import { NoBody, None } from './common.ts'
import {
  AccountAnswer,
  AccountIdentification,
  AmountResponse,
  CurrencyAmount,
  InteractionHeaders,
  KeyedHeaders,
  Max35Text,
  Moment,
  RemittanceInformation,
} from './open-banking.ts'
import { operation } from './operation.ts'

/** The order of a single payment (contract §PaymentInitiation; DebtorAccount: decision 59). */
export const PaymentInitiation = z.strictObject({
  InstructionIdentification: Max35Text,
  EndToEndIdentification: Max35Text,
  InstructedAmount: CurrencyAmount,
  CreditorAccount: AccountIdentification,
  DebtorAccount: AccountIdentification.optional(),
  RemittanceInformation: RemittanceInformation.optional(),
})
export type PaymentInitiation = z.output<typeof PaymentInitiation>

/** The status of a payment (decision 1). */
export const OrderStatus = z.enum([
  'Pending',
  'Rejected',
  'AcceptedSettlementInProcess',
  'AcceptedSettlementCompleted',
  'AcceptedWithoutPosting',
  'AcceptedCreditSettlementCompleted',
])
export type OrderStatus = z.infer<typeof OrderStatus>

/** The status as a short code of ISO 20022, as in later versions of the standard (decision 1). */
export const OrderStatusIso = z.enum(['PDNG', 'RJCT', 'ACSP', 'ACSC', 'ACWP', 'ACCC'])
export type OrderStatusIso = z.infer<typeof OrderStatusIso>

export const PaymentResponse = z.strictObject({
  PaymentId: z.string(),
  Status: OrderStatus,
  StatusISO: OrderStatusIso,
  CreationDateTime: Moment,
  StatusUpdateDateTime: Moment,
  /** ISO 20022, such as AM04, with its meaning in StatusReason; only of a rejected payment. */
  StatusReasonCode: z.string().optional(),
  StatusReason: z.string().optional(),
  InstructionIdentification: z.string(),
  EndToEndIdentification: z.string(),
  InstructedAmount: AmountResponse,
  DebtorAccountId: z.string(),
  CreditorAccount: AccountAnswer,
  RemittanceInformation: z.strictObject({ Reference: z.string() }).optional(),
  /** The recurring payment or the request that created it. */
  RecurringPaymentId: z.string().optional(),
  RequestId: z.string().optional(),
})
export type PaymentResponse = z.infer<typeof PaymentResponse>

export const createOrder = operation({
  name: 'createOrder',
  dryRun: true,
  method: 'POST',
  path: '/open-banking/v1/payments',
  summary: 'Create a payment order from an account of the caller',
  access: ['customer'],
  scopes: ['payments'],
  params: None,
  query: None,
  headers: KeyedHeaders,
  body: PaymentInitiation,
  replies: { 201: PaymentResponse },
  errors: ['IDEMPOTENCY_KEY_REUSED'],
})

export const getOrder = operation({
  name: 'getOrder',
  method: 'GET',
  path: '/open-banking/v1/payments/{PaymentId}',
  summary: 'Get a payment order of the caller with its status',
  access: ['customer'],
  scopes: ['payments', 'accounts'],
  params: z.strictObject({ PaymentId: z.string() }),
  query: None,
  headers: InteractionHeaders,
  body: NoBody,
  replies: { 200: PaymentResponse },
  errors: ['ORDER_NOT_FOUND'],
})
