import { z } from 'zod'
import { NoBody, None, nameText, text } from './common.ts'
import {
  AmountResponse,
  CurrencyAmount,
  Day,
  InteractionHeaders,
  KeyedHeaders,
  Max35Text,
  Moment,
  Paging,
  pageOf,
} from './open-banking.ts'
import { operation } from './operation.ts'

/** A payee asks a payer for money (contract §RequestToPay). */
export const RequestToPay = z.strictObject({
  PayeeName: nameText(140),
  /** E-mail address, mobile number or proxy id of the payer (decision 5). */
  PayerIdentifier: text(320),
  AmountRequested: CurrencyAmount,
  DueDate: Day,
  Reference: Max35Text.optional(),
})
export type RequestToPay = z.output<typeof RequestToPay>

/** A payer offers money to a payee (contract §OfferToPay). */
export const OfferToPay = z.strictObject({
  PayerName: nameText(140),
  PayeeIdentifier: text(320),
  AmountOffered: CurrencyAmount,
  Reference: Max35Text.optional(),
})
export type OfferToPay = z.output<typeof OfferToPay>

export const PaymentRequestStatus = z.enum(['Sent', 'Accepted', 'Rejected', 'Paid'])
export type PaymentRequestStatus = z.infer<typeof PaymentRequestStatus>

/** The fields of a response that requests and offers have in common. */
const SharedFields = z.strictObject({
  Status: PaymentRequestStatus,
  /** ISO 20022, such as MS02, with its meaning in StatusReason; only where it was rejected. */
  StatusReasonCode: z.string().optional(),
  StatusReason: z.string().optional(),
  /** Whether the caller made it, or it was sent to the caller. */
  Direction: z.enum(['Outgoing', 'Incoming']),
  CreationDateTime: Moment,
  StatusUpdateDateTime: Moment,
  ExpirationDateTime: Moment,
  Reference: z.string().optional(),
  /** The payment that its acceptance created, which the payer may read. */
  PaymentId: z.string().optional(),
})

export const RequestToPayResponse = z.strictObject({
  RequestToPayId: z.string(),
  ...SharedFields.shape,
  PayeeName: z.string(),
  PayerIdentifier: z.string(),
  AmountRequested: AmountResponse,
  DueDate: z.string(),
})
export type RequestToPayResponse = z.infer<typeof RequestToPayResponse>

export const OfferToPayResponse = z.strictObject({
  OfferToPayId: z.string(),
  ...SharedFields.shape,
  PayerName: z.string(),
  PayeeIdentifier: z.string(),
  AmountOffered: AmountResponse,
})
export type OfferToPayResponse = z.infer<typeof OfferToPayResponse>

/** The account of the caller to use; by default the first one of the currency (decision 59). */
export const Acceptance = z.strictObject({ AccountId: z.string().optional() })
export type Acceptance = z.output<typeof Acceptance>

const shared = { access: ['customer'], params: None, query: None, headers: InteractionHeaders, body: NoBody } as const
const reading = { method: 'GET', scopes: ['payments', 'accounts'] } as const
const deciding = { method: 'POST', scopes: ['payments'], bodyOptional: true } as const
const RequestParams = z.strictObject({ RequestToPayId: z.string() })
const OfferParams = z.strictObject({ OfferToPayId: z.string() })

export const createRequestToPay = operation({
  ...shared,
  name: 'createRequestToPay',
  method: 'POST',
  path: '/open-banking/v1/request-to-pay',
  summary: 'Create a request to pay',
  scopes: ['payments'],
  headers: KeyedHeaders,
  body: RequestToPay,
  replies: { 201: RequestToPayResponse },
  errors: ['IDEMPOTENCY_KEY_REUSED'],
})

export const listRequestsToPay = operation({
  ...shared,
  ...reading,
  name: 'listRequestsToPay',
  path: '/open-banking/v1/request-to-pay',
  summary: 'List requests to pay, sent and received, newest first',
  query: Paging,
  replies: { 200: pageOf(RequestToPayResponse) },
  errors: [],
})

export const getRequestToPay = operation({
  ...shared,
  ...reading,
  name: 'getRequestToPay',
  path: '/open-banking/v1/request-to-pay/{RequestToPayId}',
  summary: 'Get a request to pay as its payee or payer',
  params: RequestParams,
  replies: { 200: RequestToPayResponse },
  errors: ['PAYMENT_REQUEST_NOT_FOUND'],
})

export const acceptRequestToPay = operation({
  ...shared,
  ...deciding,
  name: 'acceptRequestToPay',
  dryRun: true,
  path: '/open-banking/v1/request-to-pay/{RequestToPayId}/accept',
  summary: 'Accept a request to pay as its payer',
  description: 'Creates the payment order.',
  params: RequestParams,
  body: Acceptance.optional(),
  replies: { 200: RequestToPayResponse },
  errors: ['PAYMENT_REQUEST_NOT_FOUND', 'PAYMENT_REQUEST_CLOSED'],
})

export const rejectRequestToPay = operation({
  ...shared,
  ...deciding,
  name: 'rejectRequestToPay',
  dryRun: true,
  path: '/open-banking/v1/request-to-pay/{RequestToPayId}/reject',
  summary: 'Reject a request to pay, or withdraw it as its payee',
  params: RequestParams,
  body: None.optional(),
  replies: { 200: RequestToPayResponse },
  errors: ['PAYMENT_REQUEST_NOT_FOUND', 'PAYMENT_REQUEST_CLOSED'],
})

export const createOfferToPay = operation({
  ...shared,
  name: 'createOfferToPay',
  method: 'POST',
  path: '/open-banking/v1/offer-to-pay',
  summary: 'Create an offer to pay',
  scopes: ['payments'],
  headers: KeyedHeaders,
  body: OfferToPay,
  replies: { 201: OfferToPayResponse },
  errors: ['IDEMPOTENCY_KEY_REUSED'],
})

export const listOffersToPay = operation({
  ...shared,
  ...reading,
  name: 'listOffersToPay',
  path: '/open-banking/v1/offer-to-pay',
  summary: 'List offers to pay, sent and received, newest first',
  query: Paging,
  replies: { 200: pageOf(OfferToPayResponse) },
  errors: [],
})

export const getOfferToPay = operation({
  ...shared,
  ...reading,
  name: 'getOfferToPay',
  path: '/open-banking/v1/offer-to-pay/{OfferToPayId}',
  summary: 'Get an offer to pay as its payer or payee',
  params: OfferParams,
  replies: { 200: OfferToPayResponse },
  errors: ['PAYMENT_REQUEST_NOT_FOUND'],
})

export const acceptOfferToPay = operation({
  ...shared,
  ...deciding,
  name: 'acceptOfferToPay',
  dryRun: true,
  path: '/open-banking/v1/offer-to-pay/{OfferToPayId}/accept',
  summary: 'Accept an offer to pay as its payee',
  description: 'The payee chooses the account that the payment goes to.',
  params: OfferParams,
  body: Acceptance.optional(),
  replies: { 200: OfferToPayResponse },
  errors: ['PAYMENT_REQUEST_NOT_FOUND', 'PAYMENT_REQUEST_CLOSED'],
})

export const rejectOfferToPay = operation({
  ...shared,
  ...deciding,
  name: 'rejectOfferToPay',
  dryRun: true,
  path: '/open-banking/v1/offer-to-pay/{OfferToPayId}/reject',
  summary: 'Reject an offer to pay, or withdraw it as its payer',
  params: OfferParams,
  body: None.optional(),
  replies: { 200: OfferToPayResponse },
  errors: ['PAYMENT_REQUEST_NOT_FOUND', 'PAYMENT_REQUEST_CLOSED'],
})
