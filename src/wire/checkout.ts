import { z } from 'zod'
import { Amount, Currency, Money, NoBody, NoHeaders, None, Timestamp, text } from './common.ts'
import { operation } from './operation.ts'
import { DebtorAccountScheme, RemittanceReference } from './new-payment.ts'
import { Branding } from './settings.ts'

/** The header that carries a checkout token (decision 66). */
export const CHECKOUT_TOKEN_HEADER = 'x-checkout-token'

/** Maximum length of a checkout token as text; one with every field takes less than a quarter of it. */
export const CHECKOUT_TOKEN_LENGTH_MAX = 4096

/**
 * The payment that a merchant's server requests from the checkout (contract §Checkout token; decision 40): base64 of this
 * as JSON, and in live mode a dot and the hex HMAC-SHA256 of that base64 text under the webhook signing secret.
 */
export const CheckoutToken = z.strictObject({
  amount: Amount,
  currency: Currency,
  merchantName: text(140),
  apiUrl: z.string().max(2048),
  returnUrl: z.string().max(2048),
  merchantClientId: text(255),
  callbackOrigin: z.string().max(255),
  payerName: text(140).optional(),
  debtorAccountScheme: DebtorAccountScheme.optional(),
  debtorIdentification: text(34).optional(),
  remittanceReference: RemittanceReference.optional(),
  exp: z.int().positive().optional().meta({ description: 'expiry, in seconds since 1970' }),
  jti: text(64)
    .optional()
    .meta({ description: 'distinguishes orders that are otherwise equal; required in live mode' }),
})
export type CheckoutToken = z.infer<typeof CheckoutToken>

/** The payment that has paid a token's order: it identifies the payment, and gives no access to it. */
export const PaidPayment = z.strictObject({
  payment_id: z.string(),
  status: z.enum(['Authorised', 'Settled', 'Refunded']),
  end_to_end_id: z.string(),
})
export type PaidPayment = z.infer<typeof PaidPayment>

/** What a shop's page learns when the payer comes back: signed, in the address (contract §Checkout token). */
export type PaymentResult = {
  payment_id: string
  status: string
  /** The token's `jti`. */
  order: string | null
  amount: string
  currency: string
  end_to_end_id: string
  failure_code: string | null
  issued_at: string
}

/** A verified checkout token as the widget reads it, with the branding of the merchant. */
export const Checkout = z.strictObject({
  mode: z.enum(['sandbox', 'live']),
  merchant_name: z.string().meta({ description: "the merchant's trading name" }),
  shop_name: z
    .string()
    .meta({ description: "the name in the token, which may be that of one of the merchant's shops" }),
  merchant_client_id: z.string(),
  payee_name: z.string().meta({ description: 'the holder of the account that the payment is credited to' }),
  payee_account_end: z.string().nullable().meta({ description: 'the last four characters of that account' }),
  provider: z
    .strictObject({
      name: z.string().nullable().meta({ description: 'who provides the payment service' }),
      terms_url: z.string().nullable().meta({ description: 'the page with its terms' }),
      privacy_url: z.string().nullable().meta({ description: 'the page that says what it does with personal data' }),
    })
    .meta({ description: 'the provider of the payment service, as the payer sees it' }),
  amount: Money,
  currency: Currency,
  payer_name: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  is_paid: z.boolean().meta({ description: 'whether the order is paid, or its payment is in progress' }),
  paid_by: PaidPayment.nullable().meta({ description: 'the payment that has paid the order, or is about to' }),
  is_fast_path: z.boolean().meta({ description: "whether the token names the payer's account" }),
  debtor_bank_id: z
    .string()
    .nullable()
    .meta({ description: "the bank of the payer's account, where its sort code is known" }),
  callback_origin: z.string(),
  return_url: z.string(),
  expires_at: Timestamp.nullable(),
  branding: Branding,
})
export type Checkout = z.infer<typeof Checkout>

export const getCheckout = operation({
  name: 'getCheckout',
  method: 'GET',
  path: '/api/v1/checkout',
  summary: 'Verify a checkout token and get its contents',
  description: "Includes the merchant's branding.",
  access: ['checkout-token'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Checkout },
  errors: [],
})
