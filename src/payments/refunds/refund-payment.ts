import type { App } from '../../app.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { DomainError } from '../../lib/errors.ts'
import { sha256Hex } from '../../lib/hmac.ts'
import { redactPayload } from '../../lib/redact-payload.ts'
import { parseAmount, toNumeric } from '../../lib/money.ts'
import { storedTrace } from '../../lib/trace.ts'
import type { RefundPayment } from '../../wire/refunds.ts'
import { checkRefundAmount, withReserved } from './refundable-amount.ts'
import { executeRefund } from './execute-refund.ts'
import { routeOf } from './refund-route.ts'
import { paymentNotFound, getPayment } from '../get-payment.ts'
import type { PaymentKey } from '../get-payment.ts'
import type { PaymentRecord } from '../record.ts'
import type { RefundRecord } from './record.ts'
import { findRefundByKey, insertRefund, makeRefundDue } from './sql.ts'
import { lockPaymentRow } from '../sql.ts'

export type RefundPaymentInput = PaymentKey & {
  body: RefundPayment
  /** The request's body as it was received, or `{}`, for the audit event of a completed refund. */
  rawBody: string
  idempotencyKey: string | undefined
}

export type RefundPaymentResult = { payment: PaymentRecord; refund: RefundRecord }

/** Seconds that the request has for the bank's answer before the job asks instead; more than the bank's time-out. */
const RESUME_SECONDS = 10

/**
 * Refunds a settled payment, wholly or in part, in two transactions around the bank (decision 21): the first reserves
 * the amount, so that all refunds together never exceed the payment; the second records the bank's answer. Where the bank
 * is silent, or another error occurs after the amount is reserved, the refund stays PENDING and a job asks again: an
 * error response would make the caller order a second refund.
 *
 * Who may refund: the operation's permission is in src/wire/refunds.ts, the roles that have it in src/lib/permissions.ts.
 * @throws {DomainError} PAYMENT_NOT_FOUND, PAYMENT_NOT_SETTLED, PAYMENT_ALREADY_REFUNDED, REFUND_EXCEEDS_AVAILABLE,
 *   REFUND_AVAILABLE_MISMATCH, REFUND_REFUSED, REFUND_ACCOUNT_UNKNOWN, IDEMPOTENCY_KEY_REUSED, VALIDATION_FAILED
 */
export async function refundPayment(app: App, input: RefundPaymentInput): Promise<RefundPaymentResult> {
  const key = { merchantId: input.merchantId, id: input.id }
  await getPayment(app, key)
  const reserved = await reserve(app, input)
  const refund =
    reserved.isNew && reserved.refund.end_to_end_id === null
      ? await executeOrLeavePending(app, reserved.refund)
      : reserved.refund
  if (refund.status === 'FAILED') {
    throw new DomainError(
      'REFUND_REFUSED',
      `the bank rejected the refund: ${refund.failure_code ?? 'without a reason'}`,
      {
        next: 'the amount can be refunded again; repeat with a new idempotency key',
      },
    )
  }
  return readResult(app, { key, refund, reserved })
}

/** Executes a reserved refund, or leaves it to the job: no error of this part reaches the caller. */
async function executeOrLeavePending(app: App, refund: RefundRecord): Promise<RefundRecord> {
  try {
    return await executeRefund(app, refund, { actor: 'MERCHANT_API' })
  } catch (error) {
    app.log.error({ err: error, refund_id: refund.id }, 'a refund could not be executed; it stays PENDING')
    await resumeSoon(app, refund)
    return refund
  }
}

/** Makes the refund due for the job at once; where that fails, the job takes it after RESUME_SECONDS. */
async function resumeSoon(app: App, { merchant_id: merchantId, id }: RefundRecord): Promise<void> {
  try {
    await makeRefundDue(app.pool, { merchantId, id })
  } catch (error) {
    app.log.warn({ err: error, refund_id: id }, 'the refund is resumed later, when it is due')
  }
  app.wake.notify('resume-refunds')
}

/** The refund with its payment as they are now, or, where that can't be read, as they were when it was reserved. */
async function readResult(
  app: App,
  { key, refund, reserved }: { key: PaymentKey; refund: RefundRecord; reserved: RefundPaymentResult },
): Promise<RefundPaymentResult> {
  try {
    return { payment: await getPayment(app, key), refund }
  } catch (error) {
    app.log.error({ err: error, refund_id: refund.id }, 'a refund is returned as it was when it was reserved')
    return { payment: reserved.payment, refund: reserved.refund }
  }
}

type ReservedRefund = RefundPaymentResult & { isNew: boolean }

/** Reserves the amount of a new refund; for a repeat, finds the refund that the first request created. */
function reserve(app: App, input: RefundPaymentInput): Promise<ReservedRefund> {
  const fingerprint = fingerprintOf(input)
  const { idempotencyKey } = input
  const id = idempotencyKey === undefined ? app.ids.uuid() : app.ids.for('refund', input.id, idempotencyKey).uuid()
  return app.pool.transaction(async (tx) => {
    const payment = await lockPaymentRow(tx, { merchantId: input.merchantId, id: input.id })
    if (payment === null) throw paymentNotFound()
    const before = await findRepeat(tx, input)
    if (before !== null) return { payment, refund: checkFingerprint(before, fingerprint), isNew: false }
    const amount = checkRefundAmount(payment, input.body)
    const refund = {
      id,
      merchantId: input.merchantId,
      paymentId: input.id,
      amount,
      reason: input.body.reason ?? null,
      idempotencyKey: input.idempotencyKey ?? null,
      fingerprint,
      rawPayload: redactPayload(input.rawBody),
      disputeId: null,
      resumeSeconds: RESUME_SECONDS,
      endToEndId: await routeOf(tx, app, { payment }),
      trace: storedTrace(),
    }
    await insertRefund(tx, refund)
    return { payment: withReserved(payment, amount), refund: pendingRecord(refund), isNew: true }
  })
}

/** Two requests of the same meaning have the same fingerprint: `"50"` is `"50.00"`. */
function fingerprintOf({ id, body }: RefundPaymentInput): string {
  const canonical = (amount: string | undefined) => (amount === undefined ? undefined : toNumeric(parseAmount(amount)))
  const amounts = { amount: canonical(body.amount), refund_amount_available: canonical(body.refund_amount_available) }
  return sha256Hex(canonicalJson({ id, ...body, ...amounts }))
}

function pendingRecord(refund: Parameters<typeof insertRefund>[1]): RefundRecord {
  return {
    id: refund.id,
    merchant_id: refund.merchantId,
    payment_intent_id: refund.paymentId,
    dispute_id: refund.disputeId,
    amount: refund.amount,
    reason: refund.reason,
    status: 'PENDING',
    failure_code: null,
    request_fingerprint: refund.fingerprint,
    raw_payload: refund.rawPayload,
    end_to_end_id: refund.endToEndId,
  }
}

async function findRepeat(
  tx: Parameters<typeof findRefundByKey>[0],
  input: RefundPaymentInput,
): Promise<RefundRecord | null> {
  if (input.idempotencyKey === undefined) return null
  return findRefundByKey(tx, {
    merchantId: input.merchantId,
    paymentId: input.id,
    idempotencyKey: input.idempotencyKey,
  })
}

function checkFingerprint(refund: RefundRecord, fingerprint: string): RefundRecord {
  if (refund.request_fingerprint === fingerprint) return refund
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'this X-Idempotency-Key was used with another body', {
    next: 'send a new key for a new refund',
  })
}
