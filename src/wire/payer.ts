import { z } from 'zod'
import { Currency, IdParams, Money, NoBody, NoHeaders, None, Timestamp, Uuid, text } from './common.ts'
import { Allowance, RevokedConsent } from './consents.ts'
import { DisputeReason, DisputeStatus, StatementText } from './dispute-fields.ts'
import { operation } from './operation.ts'
import { ConsentStatus, Failure, PaymentStatus, StatusChange } from './payments.ts'

/** The e-mail address of a payer, in lower case. */
export const PayerEmail = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('must be an e-mail address such as name@example.org').max(254))

/** A phone number in any usual notation; without a leading + it is read as one of the United Kingdom. */
export const PayerPhone = z.string().trim().min(5).max(32)

/** Exactly one of the two (decision 25). */
export const PayerContact = z.union(
  [z.strictObject({ email: PayerEmail }), z.strictObject({ phone: PayerPhone })],
  'must have either email or phone',
)
export type PayerContact = z.infer<typeof PayerContact>

/** The language of what is sent to the payer (decision 397). */
const MessageLanguage = z.object({
  'accept-language': z
    .string()
    .optional()
    .meta({
      description: 'the language of the message, such as cy; English where it is not known',
      examples: ['cy, en;q=0.8'],
    }),
})

export const requestLink = operation({
  name: 'requestLink',
  method: 'POST',
  path: '/api/v1/payer/auth/request-link',
  summary: 'Send a payer a sign-in link',
  description: 'The response is the same for known and unknown payers.',
  access: ['anyone'],
  params: None,
  query: None,
  headers: MessageLanguage,
  body: PayerContact,
  replies: { 202: z.strictObject({ status: z.literal('sent') }) },
  errors: [],
})

/** The response with a payer's session; its token is a JWT that only this service reads. */
export const PayerSession = z.strictObject({
  session_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'seconds' }),
  contact: z.string().meta({ description: 'the contact of the session, masked as p…@example.org or +44 … 0123' }),
})
export type PayerSession = z.infer<typeof PayerSession>

export const verifyLink = operation({
  name: 'verifyLink',
  method: 'POST',
  path: '/api/v1/payer/auth/verify',
  summary: 'Exchange a sign-in token for a session',
  description: 'A session lasts 15 minutes. A token works once.',
  access: ['anyone'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ token: text(256) }),
  replies: { 200: PayerSession },
  errors: ['LINK_INVALID'],
})

export const signOutPayer = operation({
  name: 'signOutPayer',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payer/auth/sign-out',
  summary: "End the payer's session",
  access: ['payer'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: None.optional(),
  bodyOptional: true,
  replies: { 200: z.strictObject({ status: z.literal('signed_out') }) },
  errors: [],
})

/** A payment to any merchant, as its payer sees it. */
export const PayerPayment = z.strictObject({
  payment_id: Uuid,
  status: PaymentStatus,
  end_to_end_id: z.string(),
  merchant_name: z.string(),
  gross_amount: Money,
  fee_amount: Money,
  net_amount: Money,
  refunded_amount: Money,
  currency: Currency,
  remittance_reference: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  bank_name: z.string().nullable(),
  consent_id: Uuid,
  is_recurring: z.boolean(),
  failure: Failure.nullable(),
  dispute: z
    .strictObject({
      id: Uuid,
      status: DisputeStatus,
      reason: DisputeReason,
      opened_at: Timestamp,
      resolution_note: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'the last dispute, opened by any party' }),
  is_disputable: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type PayerPayment = z.infer<typeof PayerPayment>

export const listPayerPayments = operation({
  name: 'listPayerPayments',
  method: 'GET',
  path: '/api/v1/payer/payments',
  summary: "List the payer's last 50 payments to all merchants",
  access: ['payer'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ data: z.array(PayerPayment).max(50) }) },
  errors: [],
})

/** A payment with its history. */
export const PayerReceipt = PayerPayment.extend({
  status_history: z.array(StatusChange),
  refunds: z.array(z.strictObject({ amount: Money, refunded_at: Timestamp })),
  can_mail_receipt: z.boolean().meta({
    description: 'whether the receipt can be mailed: it is paid, and the session is one of an e-mail address',
  }),
})
export type PayerReceipt = z.infer<typeof PayerReceipt>

export const getPayerPayment = operation({
  name: 'getPayerPayment',
  method: 'GET',
  path: '/api/v1/payer/payments/{id}',
  summary: "Get the receipt of one of the payer's payments",
  access: ['payer'],
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: PayerReceipt },
  errors: ['PAYMENT_NOT_FOUND'],
})

export const sendPayerReceipt = operation({
  name: 'sendPayerReceipt',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payer/payments/{id}/receipt',
  summary: "Send the receipt of one of the payer's payments by e-mail",
  description: 'It goes to the address that the payer has signed in with, once an hour for each payment.', // decision 382
  access: ['payer'],
  params: IdParams,
  query: None,
  headers: MessageLanguage,
  body: None.optional(),
  bodyOptional: true,
  replies: {
    202: z.strictObject({
      payment_id: Uuid,
      status: z.literal('sent'),
      contact: z.string().meta({ description: 'the address, masked as p…@example.org' }),
    }),
  },
  errors: ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_SETTLED', 'EMAIL_NOT_CONFIRMED'],
})

/** A mandate that the payer can end. */
export const PayerConsent = z.strictObject({
  consent_id: Uuid,
  status: ConsentStatus,
  merchant_name: z.string(),
  currency: Currency,
  max_amount_per_payment: Money,
  allowances: z.array(Allowance),
  caps_enforced: z.boolean(),
  remittance_reference: z.string().nullable(),
  bank_name: z.string().nullable(),
  payment_count: z.int(),
  last_payment_at: Timestamp.nullable(),
  valid_to: Timestamp,
  created_at: Timestamp,
})
export type PayerConsent = z.infer<typeof PayerConsent>

export const listPayerConsents = operation({
  name: 'listPayerConsents',
  method: 'GET',
  path: '/api/v1/payer/consents',
  summary: "List the payer's active mandates",
  access: ['payer'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ data: z.array(PayerConsent) }) },
  errors: [],
})

export const revokePayerConsent = operation({
  name: 'revokePayerConsent',
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/payer/consents/{id}',
  summary: 'Cancel a mandate',
  description: 'No further payment is made under the mandate.',
  access: ['payer'],
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: RevokedConsent },
  errors: ['CONSENT_NOT_FOUND', 'CONSENT_NOT_REVOCABLE'],
})

/** A dispute as the payer who raised it sees it. */
export const PayerDispute = z.strictObject({
  id: Uuid,
  payment_id: Uuid,
  status: DisputeStatus,
  reason: DisputeReason,
  payer_statement: z.string().nullable(),
  opened_at: Timestamp,
})
export type PayerDispute = z.infer<typeof PayerDispute>

export const raisePayerDispute = operation({
  name: 'raisePayerDispute',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payer/payments/{id}/dispute',
  summary: "Dispute one of the payer's payments",
  access: ['payer'],
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ reason: DisputeReason, payer_statement: StatementText.optional() }),
  replies: { 201: PayerDispute },
  errors: ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_DISPUTABLE', 'DISPUTE_ALREADY_OPEN'],
})

export const leaveContact = operation({
  name: 'leaveContact',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/payments/{id}/contact',
  summary: "Save the payer's e-mail address or phone number",
  description: 'The payer finds the payment in the hub by this contact.', // decision 41
  access: ['payment-state'],
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: PayerContact,
  replies: { 200: z.strictObject({ status: z.literal('kept') }) },
  errors: ['PAYMENT_NOT_FOUND', 'PAYMENT_NOT_AUTHORISED', 'CONTACT_ALREADY_KNOWN', 'CONTACT_NOT_TAKEN'],
})
