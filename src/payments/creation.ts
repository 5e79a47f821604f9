import type { CreatePayment } from '../wire/new-payment.ts'
import type { CreatedPayment } from '../wire/payments.ts'

/** A payment that is asked for, with or without a mandate. */
export type CreatePaymentInput = {
  merchant: { id: string; tradingName: string }
  idempotencyKey: string | undefined
  /** The parsed request; a scenario given as a header stands in it. */
  body: CreatePayment
  /** The request's body as it came: the creation's audit event keeps it. */
  rawBody: string
  /** Of a payment that a payer's browser starts: the token's hash, and where the shop takes the payer back. */
  checkout?: { hash: string; returnUrl: string } | undefined
}

/** The payment, and whether this call made it or found what the same key made before. */
export type CreatePaymentResult = { created: boolean; payment: CreatedPayment }
