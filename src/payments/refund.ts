import type { App } from '../app.ts'
import { canonicalJson } from '../lib/canonical.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { fitsCurrency, formatAmount, parseAmount, toNumeric } from '../lib/money.ts'
import type { RefundPayment } from '../wire/payments.ts'
import { askBank } from './refund-at-bank.ts'
import { paymentNotFound, readPayment } from './read.ts'
import type { PaymentKey } from './read.ts'
import type { PaymentRecord, RefundRecord } from './record.ts'
import { findRefundByKey, insertRefund } from './refund-sql.ts'
import { lockPayment } from './sql.ts'

export type RefundInput = PaymentKey & {
  body: RefundPayment
  /** The request's body as it came, or `{}`: the audit event of a completed refund keeps it. */
  rawBody: string
  idempotencyKey: string | undefined
}

export type RefundResult = { payment: PaymentRecord; refund: RefundRecord }

/** The request has this long to get the bank's answer before the job asks in its place; more than the bank's time-out. */
const RESUME_SECONDS = 10

/**
 * Refunds a settled payment, wholly or in part, in two transactions around the bank (decision 21): the first reserves
 * the amount, so that refunds together never exceed what was paid; the second records the bank's answer. Where the bank
 * is silent the refund stays PENDING and a job asks again.
 * @throws {DomainError} PAYMENT_NOT_FOUND, PAYMENT_NOT_SETTLED, PAYMENT_ALREADY_REFUNDED, REFUND_EXCEEDS_AVAILABLE,
 *   REFUND_AVAILABLE_MISMATCH, REFUND_REFUSED, IDEMPOTENCY_KEY_REUSED, VALIDATION_FAILED
 */
export async function refundPayment(app: App, input: RefundInput): Promise<RefundResult> {
  const key = { merchantId: input.merchantId, id: input.id }
  await readPayment(app, key)
  const { refund, isNew } = await reserve(app, input)
  const ended = isNew ? await askBank(app, refund, { actor: 'MERCHANT_API' }) : refund
  if (ended.status === 'FAILED') {
    throw new DomainError(
      'REFUND_REFUSED',
      `the bank refused the refund: ${ended.failure_code ?? 'without a reason'}`,
      {
        next: 'the amount can be refunded again; repeat with a new idempotency key',
      },
    )
  }
  return { payment: await readPayment(app, key), refund: ended }
}

/** What can still be refunded: numeric(19,4) text. */
export function remainingAmount(payment: PaymentRecord): string {
  return toNumeric(remaining(payment))
}

function remaining(payment: PaymentRecord): bigint {
  return (
    parseAmount(payment.gross_amount) -
    parseAmount(payment.refunded_amount) -
    parseAmount(payment.refund_reserved_amount)
  )
}

function reserve(app: App, input: RefundInput): Promise<{ refund: RefundRecord; isNew: boolean }> {
  const fingerprint = fingerprintOf(input)
  const id = app.ids.uuid()
  return app.pool.transaction(async (tx) => {
    const payment = await lockPayment(tx, { merchantId: input.merchantId, id: input.id })
    if (payment === null) throw paymentNotFound()
    const before = await repeatOf(tx, input)
    if (before !== null) return { refund: sameRequest(before, fingerprint), isNew: false }
    const amount = amountToRefund(payment, input.body)
    const refund = {
      id,
      merchantId: input.merchantId,
      paymentId: input.id,
      amount,
      reason: input.body.reason ?? null,
      idempotencyKey: input.idempotencyKey ?? null,
      fingerprint,
      rawPayload: input.rawBody,
      resumeSeconds: RESUME_SECONDS,
    }
    await insertRefund(tx, refund)
    return { refund: pendingRecord(refund), isNew: true }
  })
}

/** Two requests of the same meaning have the same fingerprint: `"50"` is `"50.00"`. */
function fingerprintOf({ id, body }: RefundInput): string {
  const canonical = (amount: string | undefined) => (amount === undefined ? undefined : toNumeric(parseAmount(amount)))
  const amounts = { amount: canonical(body.amount), refund_amount_available: canonical(body.refund_amount_available) }
  return sha256Hex(canonicalJson({ id, ...body, ...amounts }))
}

function pendingRecord(refund: Parameters<typeof insertRefund>[1]): RefundRecord {
  return {
    id: refund.id,
    merchant_id: refund.merchantId,
    payment_intent_id: refund.paymentId,
    amount: refund.amount,
    reason: refund.reason,
    status: 'PENDING',
    failure_code: null,
    request_fingerprint: refund.fingerprint,
    raw_payload: refund.rawPayload,
  }
}

async function repeatOf(tx: Parameters<typeof findRefundByKey>[0], input: RefundInput): Promise<RefundRecord | null> {
  if (input.idempotencyKey === undefined) return null
  return findRefundByKey(tx, {
    merchantId: input.merchantId,
    paymentId: input.id,
    idempotencyKey: input.idempotencyKey,
  })
}

function sameRequest(refund: RefundRecord, fingerprint: string): RefundRecord {
  if (refund.request_fingerprint === fingerprint) return refund
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'this X-Idempotency-Key was used with another body', {
    next: 'send a new key for a new refund',
  })
}

/** The amount of a refund that the payment allows: numeric(19,4) text. The payment's row is locked. */
function amountToRefund(payment: PaymentRecord, body: RefundPayment): string {
  if (payment.status === 'Refunded') throw alreadyRefunded()
  if (payment.status !== 'Settled') {
    throw new DomainError('PAYMENT_NOT_SETTLED', `the payment is ${payment.status}; only a Settled one can be refunded`)
  }
  const left = remaining(payment)
  const available = body.refund_amount_available
  if (available !== undefined && parseAmount(available) !== left) {
    throw new DomainError(
      'REFUND_AVAILABLE_MISMATCH',
      `${formatAmount(left, payment.currency)} is left to refund, not ${available}`,
      {
        next: 'read the payment again and repeat with what is left',
      },
    )
  }
  if (left === 0n) throw alreadyRefunded()
  if (body.amount === undefined) return toNumeric(left)
  const amount = parseAmount(body.amount)
  if (amount === 0n) throw invalidField('amount', 'TOO_SMALL', 'must be at least 0.01')
  if (!fitsCurrency(amount, payment.currency)) {
    throw invalidField(
      'amount',
      'TOO_PRECISE',
      `${payment.currency} has no digits below its minor unit: they must be 0`,
    )
  }
  if (amount > left) {
    throw new DomainError(
      'REFUND_EXCEEDS_AVAILABLE',
      `only ${formatAmount(left, payment.currency)} is left to refund`,
      {
        errors: [{ path: 'amount', code: 'REFUND_EXCEEDS_AVAILABLE', message: 'is more than is left of the payment' }],
      },
    )
  }
  return toNumeric(amount)
}

function alreadyRefunded(): DomainError {
  return new DomainError('PAYMENT_ALREADY_REFUNDED', 'nothing is left of the payment to refund')
}
