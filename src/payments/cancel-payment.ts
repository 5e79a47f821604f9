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

/** The statuses of a payment that its payer has not authorised, in their order. */
const UNAUTHORISED = ['Initiated', 'AwaitingAuthorisation'] as const

/**
 * Cancels a payment that waits for its authorisation (decision 52), or for the bank to stage it (decision 425): its
 * payer has no redirect address yet, and a staging that is answered later changes nothing. A repeat returns the cancelled
 * payment, whether the merchant or the payer cancelled it.
 * @throws {DomainError} PAYMENT_NOT_FOUND, PAYMENT_NOT_CANCELLABLE, also for one under a mandate
 */
export async function cancelPayment(app: App, input: CancelPaymentInput): Promise<PaymentWithHistory> {
  const { by, rawBody: _, ...key } = input
  await cancelUnauthorised(app, input)
  const current = await getPayment(app, key)
  if (isCancelled(current)) return current
  throw new DomainError('PAYMENT_NOT_CANCELLABLE', `the payment is ${current.status} and can't be cancelled`, {
    ...nextFor(current, by),
    current: { status: current.status },
  })
}

/** A payment that is staged in between is cancelled from its next status. */
async function cancelUnauthorised(app: App, { by, rawBody, ...key }: CancelPaymentInput): Promise<void> {
  const { status } = await getPayment(app, key)
  const first = UNAUTHORISED.findIndex((each) => each === status)
  if (first === -1) return
  for (const from of UNAUTHORISED.slice(first)) {
    const { outcome } = await movePayment(app, {
      merchantId: key.merchantId,
      paymentId: key.id,
      from,
      on: 'cancellation',
      rawPayload: rawBody,
      ...FAILURES[by],
    })
    if (outcome === 'MOVED') return
  }
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
