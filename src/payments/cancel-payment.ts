import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { NextStep } from '../lib/errors.ts'
import type { FailureCode, FailureSource } from '../lib/failure-codes.ts'
import { movePayment } from './move.ts'
import { getPayment } from './get-payment.ts'
import type { PaymentKey } from './get-payment.ts'
import type { PaymentRecord, PaymentWithHistory } from './record.ts'

export type CancelPaymentInput = PaymentKey & {
  by: 'merchant' | 'payer'
  /** The request's body as it was received, or `{}`. */
  rawBody: string
}

const FAILURES = {
  merchant: { failureCode: 'CANCELLED_BY_MERCHANT', failureSource: 'MERCHANT' },
  payer: { failureCode: 'ACCESS_DENIED', failureSource: 'PAYER' },
} as const satisfies Record<CancelPaymentInput['by'], { failureCode: FailureCode; failureSource: FailureSource }>

/**
 * Cancels a payment that waits for its authorisation (decision 52). A repeat returns the cancelled payment, whether the
 * merchant or the payer cancelled it.
 * @throws {DomainError} PAYMENT_NOT_FOUND, PAYMENT_NOT_CANCELLABLE
 */
export async function cancelPayment(
  app: App,
  { by, rawBody, ...key }: CancelPaymentInput,
): Promise<PaymentWithHistory> {
  const payment = await getPayment(app, key)
  if (payment.status === 'AwaitingAuthorisation') {
    await movePayment(app, {
      merchantId: key.merchantId,
      paymentId: key.id,
      from: 'AwaitingAuthorisation',
      on: 'cancellation',
      rawPayload: rawBody,
      ...FAILURES[by],
    })
  }
  const current = await getPayment(app, key)
  if (isCancelled(current)) return current
  throw new DomainError('PAYMENT_NOT_CANCELLABLE', `the payment is ${current.status} and can't be cancelled`, {
    ...nextFor(current, by),
    current: { status: current.status },
  })
}

function isCancelled({ failure_code: code, failure_source: source }: PaymentRecord): boolean {
  return Object.values(FAILURES).some((reason) => reason.failureCode === code && reason.failureSource === source)
}

/** A payer can't refund. */
function nextFor({ id, status }: PaymentRecord, by: CancelPaymentInput['by']): { next?: string; nextStep?: NextStep } {
  if (status !== 'Settled') return {}
  const next = 'refund it instead: POST /api/v1/payments/{id}/refund'
  return by === 'payer' ? { next } : { next, nextStep: { operation: 'refundPayment', params: { id } } }
}
