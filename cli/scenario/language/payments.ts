import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { DebtorAccountScheme } from '../../../src/wire/new-payment.ts'
import { CreatedPayment, Payment, PaymentStatus } from '../../../src/wire/payments.ts'
import { BankFault } from './bank.ts'
import { MandateWish } from './mandates.ts'
import { CustomerReference, Name, PaymentReference, Text, Wait, expectedOf, matchersOf } from './parts.ts'

export const Pay = z.strictObject({
  as: Name.optional(),
  /** A payment to create again, with the same idempotency key and body. */
  repeat: PaymentReference.optional(),
  amount: Text.optional(),
  currency: Text.optional(),
  idempotency_key: Text.optional(),
  redirect_uri: Text.optional(),
  payer_name: Text.optional(),
  payer_email: Text.optional(),
  payer_phone: Text.optional(),
  remittance_reference: Text.optional(),
  debtor_bank_id: Text.optional(),
  debtor_account_scheme: DebtorAccountScheme.optional(),
  debtor_identification: Text.optional(),
  metadata: z.record(Text, Text).optional(),
  /** The customer whose account the payer pays from. */
  from: CustomerReference.optional(),
  /** Sets up a mandate with this first payment, whose name is then the mandate's too. */
  mandate: MandateWish.optional(),
  /** The mandate that it is made under, by its first payment: nothing is left for the payer to do. */
  consent: PaymentReference.optional(),
  /** How the mock bank behaves, such as insufficient-funds. */
  scenario: Text.optional(),
  /** What the payer does at the bank at once: short for a step `bank`. */
  bank: z.enum(['approve', 'cancel']).optional(),
  expect: expectedOf(CreatedPayment),
})

/** What the payer types at the bank's full login, where it is not what the bank always takes. */
const Login = z.strictObject({
  /** Or a scenario's name. */
  username: Text.optional(),
  password: Text.optional(),
  /** The one-time code, or several that are typed in turn until one is taken. */
  code: z.union([Text, z.array(Text).min(1).max(10)]).optional(),
})

/**
 * A visit of the payer at the bank. The first decision there counts: the same one again changes nothing, nor does
 * another one, which `await` and `expect` tell.
 */
export const Bank = z.strictObject({
  approve: PaymentReference.optional(),
  cancel: PaymentReference.optional(),
  /** What goes wrong at the bank from now on, instead of what did. */
  fault: BankFault.optional(),
  /** Whether the payer comes back from the bank; one who closes the browser there does not. */
  returns: z.boolean().optional(),
  /** The bank's full login before the decision; `true` for what it always takes. */
  login: z.union([z.literal(true), Login]).optional(),
})

export const AwaitPayment = z.strictObject({
  payment: PaymentReference,
  status: PaymentStatus,
  within: Wait.optional(),
})
export const ExpectPayment = z.strictObject({
  ...matchersOf(Payment),
  of: PaymentReference,
  /** The statuses that the payment has been in, in their order. */
  history: z.array(PaymentStatus).optional(),
})
export const PAYMENT_VERBS = {
  pay: {
    schema: Pay,
    text: "Creates a payment: a new one, the same key again (`repeat`), from a customer's account, or under a mandate.",
    examples: [
      'pay: { as: p1, amount: "50.00", currency: GBP }',
      'pay: { as: p1, amount: "50.00", currency: GBP, scenario: insufficient-funds, bank: approve }',
      'pay: { repeat: $p1, expect: { http: 200 } }',
      'pay: { as: m1, amount: "9.99", currency: GBP, mandate: { max_amount_per_payment: "20.00", valid_for: 90d } }',
      'pay: { amount: "5.00", currency: GBP, consent: $p1 }',
    ],
    makes: made('payment', CreatedPayment),
  },
  bank: {
    schema: Bank,
    text: 'Simulates the payer at the bank, or sets fault injection.',
    examples: [
      'bank: { approve: $p1 }',
      'bank: { cancel: $p1 }',
      'bank: { approve: $p1, returns: false }',
      'bank: { approve: $p1, login: { code: ["000000", "123456"] } }',
      'bank: { fault: { unavailable: 30% } }',
    ],
  },
} as const satisfies VerbTable
