import { DomainError, invalidField } from '../../lib/errors.ts'
import { fitsCurrency, formatAmount, parseAmount, toNumeric, tooPreciseText } from '../../lib/money.ts'
import type { RefundPayment } from '../../wire/refunds.ts'
import type { PaymentRecord } from '../record.ts'

type Amounts = Pick<PaymentRecord, 'gross_amount' | 'refunded_amount' | 'refund_reserved_amount'>

/** The amount that can still be refunded: numeric(19,4) text. */
export function remainingAmount(payment: Amounts): string {
  return toNumeric(remainingUnits(payment))
}

function remainingUnits({ gross_amount, refunded_amount, refund_reserved_amount }: Amounts): bigint {
  return parseAmount(gross_amount) - parseAmount(refunded_amount) - parseAmount(refund_reserved_amount)
}

/** A payment with a further amount reserved (numeric(19,4) text). */
export function withReserved<P extends Amounts>(payment: P, amount: string): P {
  const reserved = parseAmount(payment.refund_reserved_amount) + parseAmount(amount)
  return { ...payment, refund_reserved_amount: toNumeric(reserved) }
}

/** Whether a payment is completely refunded or reserved for refunds. */
export function isFullyRefunded(payment: Amounts): boolean {
  return remainingUnits(payment) === 0n
}

/**
 * Checks the amount of a refund against its payment, whose row is locked. Without an amount, the whole remaining amount is
 * refunded.
 * @returns numeric(19,4) text
 * @throws {DomainError} PAYMENT_NOT_SETTLED, PAYMENT_ALREADY_REFUNDED, REFUND_EXCEEDS_AVAILABLE,
 *   REFUND_AVAILABLE_MISMATCH, VALIDATION_FAILED
 */
export function checkRefundAmount(payment: PaymentRecord, body: RefundPayment): string {
  if (payment.status === 'Refunded') throw alreadyRefunded()
  if (payment.status !== 'Settled') {
    throw new DomainError(
      'PAYMENT_NOT_SETTLED',
      `the payment is ${payment.status}; only a Settled one can be refunded`,
      { current: { status: payment.status } },
    )
  }
  const left = remainingUnits(payment)
  const available = body.refund_amount_available
  if (available !== undefined && parseAmount(available) !== left) {
    throw new DomainError(
      'REFUND_AVAILABLE_MISMATCH',
      `${formatAmount(left, payment.currency)} is left to refund, not ${available}`,
      {
        next: 'read the payment again and repeat with what is left',
        nextStep: { operation: 'getPayment', params: { id: payment.id } },
        available: formatAmount(left, payment.currency),
      },
    )
  }
  if (left === 0n) throw alreadyRefunded()
  if (body.amount === undefined) return toNumeric(left)
  const amount = parseAmount(body.amount)
  if (amount === 0n) throw invalidField('amount', 'TOO_SMALL', 'must be at least 0.01')
  if (!fitsCurrency(amount, payment.currency)) {
    throw invalidField('amount', 'TOO_PRECISE', tooPreciseText(payment.currency))
  }
  if (amount > left) {
    throw new DomainError(
      'REFUND_EXCEEDS_AVAILABLE',
      `only ${formatAmount(left, payment.currency)} is left to refund`,
      {
        errors: [{ path: 'amount', code: 'REFUND_EXCEEDS_AVAILABLE', message: 'is more than is left of the payment' }],
        available: formatAmount(left, payment.currency),
      },
    )
  }
  return toNumeric(amount)
}

/** @param next a hint for an alternative to the refund */
export function alreadyRefunded(next?: string): DomainError {
  return new DomainError(
    'PAYMENT_ALREADY_REFUNDED',
    'nothing is left of the payment to refund',
    next === undefined ? {} : { next },
  )
}
