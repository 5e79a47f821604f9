import { parsePart } from '../lib/field-errors.ts'
import type { FieldError } from '../lib/errors.ts'
import type { CheckoutToken } from '../wire/checkout.ts'
import { CreatePayment } from '../wire/new-payment.ts'
import type { CheckoutPayment } from '../wire/new-payment.ts'

/** The token's fields by the names of the payment's fields. */
const FIELDS = {
  amount: 'amount',
  currency: 'currency',
  payer_name: 'payerName',
  debtor_account_scheme: 'debtorAccountScheme',
  debtor_identification: 'debtorIdentification',
  remittance_reference: 'remittanceReference',
} as const satisfies Partial<Record<keyof CreatePayment, keyof CheckoutToken>>

/** The request that the merchant's own server would have sent for a token's payment (decision 66). */
export function paymentBody(token: CheckoutToken, redirectUri: string, chosen: CheckoutPayment = {}): CreatePayment {
  return CreatePayment.parse({ ...paymentFields(token), redirect_uri: redirectUri, ...chosen })
}

/** The errors of that request, by the token's field names. */
export function paymentProblems(token: Partial<CheckoutToken>): FieldError[] {
  const errors: FieldError[] = []
  parsePart(CreatePayment, { ...paymentFields(token), redirect_uri: '/' }, errors)
  return errors.map((error) => ({
    ...error,
    path: tokenFieldOf(error.path),
    message: Object.entries(FIELDS).reduce((message, [ours, theirs]) => message.replace(ours, theirs), error.message),
  }))
}

function paymentFields(token: Partial<CheckoutToken>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(FIELDS).flatMap(([ours, theirs]) => (token[theirs] === undefined ? [] : [[ours, token[theirs]]])),
  )
}

function tokenFieldOf(path: string): string {
  return Object.entries(FIELDS).find(([ours]) => ours === path)?.[1] ?? path
}
