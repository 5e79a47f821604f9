import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { parseAmount } from '../lib/money.ts'
import { findAuthorisation } from '../banks/mock-sql.ts'
import type { Decision } from '../banks/mock-sql.ts'
import { completeSca } from '../payments/complete-sca.ts'
import { paymentNotFound } from '../payments/get-payment.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { resumeRefunds } from '../payments/refunds/execute-refund.ts'
import { refundPayment } from '../payments/refunds/refund-payment.ts'
import { settlePayments } from '../payments/settle-payments.ts'
import { findPaymentById } from '../payments/sql.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import type { AdvanceTarget } from '../wire/sandbox-faults.ts'
import { resumeAllNow, settleNow } from './advance-payment-sql.ts'

/** The outcome of advancing a payment. */
export type Advanced = {
  oldStatus: PaymentStatus
  newStatus: PaymentStatus
  /** The payer's decision at the bank, null if the payer was not involved: the first decision counts. */
  decision: Decision | null
}

export type AdvancePayment = {
  id: string
  to: AdvanceTarget
  /** Whether the payer returns from the bank. */
  returns: boolean
  actor: Actor
}

/** The time limit for a bank that does not answer; the payment then stays in its status. */
const WITHIN_MS = 3_000

/** The interval of polling a payment that another process may settle. */
const POLL_MS = 10

/** The pause before a bank that did not answer is called again. */
const SILENT_MS = 50

/** With a signal, jobs wait only briefly for slow items, which may belong to another merchant. */
const NEVER = new AbortController().signal

/** The order of statuses in a payment's normal course. */
const STAGE = { Initiated: 0, AwaitingAuthorisation: 0, Authorised: 1, Settled: 2, Refunded: 3, Failed: 4 } as const

/** The error code when a payment can no longer reach a status. */
const ERROR_CODES = {
  Authorised: 'PAYMENT_NOT_AUTHORISED',
  Settled: 'PAYMENT_NOT_AUTHORISED',
  Refunded: 'PAYMENT_NOT_SETTLED',
  Failed: 'PAYMENT_NOT_CANCELLABLE',
} as const

/**
 * Moves a payment to a status: approves at the mock bank, returns as the payer's browser would, makes the settlement
 * due now, and refunds the remaining amount. Each step is the regular use case. A payment whose scenario leads
 * elsewhere ends there; one that has the status already stays as it is.
 * @throws {DomainError} PAYMENT_NOT_FOUND, PAYMENT_NOT_AUTHORISED, PAYMENT_NOT_CANCELLABLE, PAYMENT_NOT_SETTLED,
 *   PAYMENT_ALREADY_REFUNDED, REFUND_REFUSED, CONSENT_EXPIRED, BANK_UNAVAILABLE
 */
export async function advanceSandboxPayment(app: App, { id, to, returns, actor }: AdvancePayment): Promise<Advanced> {
  const payment = await find(app, id)
  const oldStatus = payment.status
  if (oldStatus === to) return { oldStatus, newStatus: oldStatus, decision: null }
  rejectBackwards(payment, to)
  const { merchant_id: merchantId } = payment
  const entry = { actor, action: 'sandbox.advance_payment', merchantId, subjectId: payment.id }
  await recordAction(app, app.pool, { ...entry, before: { status: oldStatus }, after: { to } })
  const decision = await decideAtBank(app, payment, { decision: to === 'Failed' ? 'cancel' : 'approve', returns })
  if (to === 'Settled' || to === 'Refunded') await settle(app, payment.id)
  if (to === 'Refunded') await refund(app, payment)
  return { oldStatus, newStatus: (await find(app, payment.id)).status, decision }
}

async function find(app: App, id: string): Promise<PaymentRecord> {
  const payment = isUuid(id) ? await findPaymentById(app.pool, id) : null
  if (payment === null) throw paymentNotFound()
  return payment
}

function rejectBackwards({ status }: PaymentRecord, to: AdvanceTarget): void {
  const isTooLate = to === 'Failed' ? STAGE[status] > STAGE.AwaitingAuthorisation : STAGE[status] > STAGE[to]
  if (!isTooLate) return
  throw new DomainError(ERROR_CODES[to], `the payment is ${status} and can no longer become ${to}`, {
    next: 'create another payment',
  })
}

/** Decides as the payer if the payment still waits for that; returns the payer's decision, from now or earlier. */
async function decideAtBank(
  app: App,
  payment: PaymentRecord,
  { decision, returns }: { decision: Decision; returns: boolean },
): Promise<Decision | null> {
  if (payment.status !== 'AwaitingAuthorisation') return null
  const signed = payment.redirect_url === null ? null : new URL(payment.redirect_url).searchParams.get('request')
  const request = signed === null ? undefined : app.mockBank.readRequest(signed)
  if (request === undefined) {
    throw new DomainError(
      ERROR_CODES[decision === 'cancel' ? 'Failed' : 'Authorised'],
      'this payment does not wait for a payer at the mock bank',
      {
        next: 'a payment under a mandate proceeds by itself; check it again in a few seconds',
      },
    )
  }
  const { state } = request
  const outcome = await app.mockBank.decide(request, decision)
  if (returns && outcome.returns === 'with-code')
    await returnFromBank(app, { id: payment.id, body: { state, code: outcome.code } })
  if (returns && outcome.returns === 'with-error')
    await returnFromBank(app, { id: payment.id, body: { state, error: outcome.error } })
  return (await findAuthorisation(app.pool, state))?.decision ?? null
}

/** Returns with the bank's code or error, and repeats it while the bank does not answer, like a patient payer. */
async function returnFromBank(
  app: App,
  { id, body }: { id: string; body: { state: string; code: string } | { state: string; error: string } },
): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    try {
      await completeSca(app, { id, body, rawBody: JSON.stringify(body) })
      return
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'BANK_UNAVAILABLE')) throw error
      if (performance.now() > deadline) throw noAnswer()
      await delay(SILENT_MS)
    }
  }
}

/** Makes the bank execute the payment now, again while it does not answer. A worker may do the same concurrently. */
async function settle(app: App, id: string): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const payment = await find(app, id)
    if (payment.status !== 'Authorised' || performance.now() > deadline) return
    await settleNow(app.pool, { merchantId: payment.merchant_id, id: payment.id })
    await settlePayments(app, NEVER)
    await delay(POLL_MS)
  }
}

/** A call without an answer may still have been carried out. */
function noAnswer(): DomainError {
  return new DomainError(
    'BANK_UNAVAILABLE',
    'the payer has decided at the bank, which gives no answer: it may have received the call, and may send a callback',
    { next: 'check the payment; repeat the command to call the bank again' },
  )
}

/** Refunds the remaining amount of a settled payment, after the refunds in progress have ended. */
async function refund(app: App, { id, merchant_id: merchantId }: PaymentRecord): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const { status, refund_reserved_amount: reserved } = await find(app, id)
    if (status !== 'Settled') return
    if (parseAmount(reserved) === 0n) break
    if (performance.now() > deadline) return
    await resumeAllNow(app.pool, { merchantId, id })
    await resumeRefunds(app, NEVER)
    await delay(POLL_MS)
  }
  await refundPayment(app, { merchantId, id, body: {}, rawBody: '{}', idempotencyKey: undefined })
}
