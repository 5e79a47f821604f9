import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { Checkout } from '../../../src/wire/checkout.ts'
import { CreatedPayment, Payment, ScaCompleted } from '../../../src/wire/payments.ts'
import { Advance, CustomerReference, Name, PaymentReference, Text, expectedOf, matchersOf } from './parts.ts'

/** What a payer's browser does at the checkout: opens a token of the merchant's server, and starts a payment with it. */
export const CheckoutStep = z
  .strictObject({
    as: Name.optional(),
    /** A checkout to open again, with the very same token. */
    again: PaymentReference.optional(),
    amount: Text.optional(),
    currency: Text.optional(),
    /** The order's number: all tokens with it are of one order, which is paid once. */
    order: Text.optional(),
    payer_name: Text.optional(),
    remittance_reference: Text.optional(),
    merchant_name: Text.optional(),
    return_url: Text.optional(),
    callback_origin: Text.optional(),
    /** The customer whose account the token names. */
    from: CustomerReference.optional(),
    /** How long the token lasts; 0s for one that has ended. */
    expires_in: Advance.optional(),
    /** Whether the merchant's secret has signed it, as it does where nothing is said; `wrong` for somebody else's. */
    signed: z.union([z.boolean(), z.literal('wrong')]).optional(),
    /** Whether a payment is started; a checkout that is only looked at is `pays: false`. */
    pays: z.boolean().optional(),
    /** The browser's own, with which it repeats its request. */
    idempotency_key: Text.optional(),
    debtor_bank_id: Text.optional(),
    scenario: Text.optional(),
    /** What the payer does at the bank at once: short for a step `bank`. */
    bank: z.enum(['approve', 'cancel']).optional(),
    /** What the widget is told before there is a payment. */
    opened: z.strictObject(matchersOf(Checkout)).optional(),
    expect: expectedOf(CreatedPayment),
  })
  .refine(
    ({ again, amount, currency }) => again !== undefined || (amount !== undefined && currency !== undefined),
    'checkout takes amount and currency, or again for a token of before',
  )

/** The return from the bank, by hand: what the bank gave the payer, unless a step says something else. */
export const Sca = z.strictObject({
  payment: PaymentReference,
  state: Text.optional(),
  code: Text.optional(),
  error: Text.optional(),
  error_description: Text.optional(),
  expect: expectedOf(ScaCompleted),
})

/** The payer cancels on the way to the bank. */
export const PayerCancel = z.strictObject({ payment: PaymentReference, expect: expectedOf(Payment) })

/** The e-mail address or phone number that the payer of a checkout leaves. */
export const PayerContactStep = z.strictObject({ payment: PaymentReference, contact: Text })

export const CHECKOUT_VERBS = {
  checkout: {
    schema: CheckoutStep,
    text: "Pays as the widget does, with a token of the merchant's server: signed, unsigned or with a `wrong` signature.",
    examples: [
      'checkout: { as: p1, amount: "12.50", currency: GBP, order: order-1 }',
      'checkout: { amount: "12.50", currency: GBP, pays: false, opened: { is_paid: false } }',
      'checkout: { again: $p1 }',
    ],
    makes: made('payment', CreatedPayment),
  },
  sca: {
    schema: Sca,
    text: 'Passes back the redirect of the bank, or another one.',
    examples: ['sca: { payment: $p1, error: access_denied }', 'sca: { payment: $p1, code: made-up }'],
  },
  'payer.cancel': {
    schema: PayerCancel,
    text: 'Cancels a payment as its payer, who has not decided at the bank yet.',
    examples: ['payer.cancel: { payment: $p1 }'],
  },
  'payment.contact': {
    schema: PayerContactStep,
    text: 'Leaves the e-mail address or phone number of the payer on the receipt.',
    examples: ['payment.contact: { payment: $p1, contact: ada@example.org }'],
  },
} as const satisfies VerbTable
