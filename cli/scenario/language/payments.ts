import { z } from 'zod'
import { CreatedPayment, DebtorAccountScheme, Payment, PaymentStatus } from '../../../src/wire/payments.ts'
import { Refund } from '../../../src/wire/refunds.ts'
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
  /** How the mock bank behaves, such as insufficient-funds. */
  scenario: Text.optional(),
  /** What the payer does at the bank at once: short for a step `bank`. */
  bank: z.enum(['approve', 'cancel']).optional(),
  expect: expectedOf(CreatedPayment),
})

export const Bank = z.strictObject({ approve: PaymentReference.optional(), cancel: PaymentReference.optional() })

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
export const RefundStep = z.strictObject({
  payment: PaymentReference,
  amount: Text.optional(),
  reason: Text.optional(),
  refund_amount_available: Text.optional(),
  idempotency_key: Text.optional(),
  as: Name.optional(),
  expect: expectedOf(Refund),
})
