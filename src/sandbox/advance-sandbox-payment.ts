import { setTimeout as sleep } from 'node:timers/promises'
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
import type { AdvanceTarget } from '../wire/sandbox-dial.ts'
import { resumeAllNow, settleNow } from './advance-payment-sql.ts'

/** What became of a payment. */
export type Advanced = {
  oldStatus: PaymentStatus
  newStatus: PaymentStatus
  /** What the payer has decided at the bank, where it was asked: its first decision counts. */
  decision: Decision | null
}

export type AdvancePayment = {
  id: string
  to: AdvanceTarget
  /** Whether the payer comes back from the bank. */
  returns: boolean
  actor: Actor
}

/** How long a bank may leave a step unanswered until the payment stays where it is: no bank is asked after that. */
const WITHIN_MS = 3_000

/** Between two looks at a payment that another process settles. */
const POLL_MS = 10

/** Before a silent bank is asked again. */
const SILENT_MS = 50

/** Jobs that are played with a signal wait a moment for what is slow, which may be another merchant's, and no longer. */
const NEVER = new AbortController().signal

/** How far a payment has come on the way that payments go. */
const STAGE = { Initiated: 0, AwaitingAuthorisation: 0, Authorised: 1, Settled: 2, Refunded: 3, Failed: 4 } as const

/** Why a payment does not come to a status any more. */
const ERROR_CODES = {
  Authorised: 'PAYMENT_NOT_AUTHORISED',
  Settled: 'PAYMENT_NOT_AUTHORISED',
  Refunded: 'PAYMENT_NOT_SETTLED',
  Failed: 'PAYMENT_NOT_CANCELLABLE',
} as const

/**
 * Leads a payment to a status: presses the button at the mock bank, returns as the payer's browser would, has the bank
 * carry it out now whenever that was due, and refunds what is left. Each step is the one that happens without it. A
 * payment whose scenario goes elsewhere ends there; one that is there already stays.
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
  throw new DomainError(ERROR_CODES[to], `the payment is ${status} and does not become ${to} any more`, {
    next: 'create another payment',
  })
}

/** What the payer does, where the payment still waits for it; and what it has decided, now or before. */
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
      'no payer of the mock bank is asked about this payment',
      {
        next: 'a payment under a mandate goes its way by itself; look again in a few seconds',
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

/** Brings back what the bank has given, again where the bank is silent: so a patient payer does. */
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
      await sleep(SILENT_MS)
    }
  }
}

/** Has the bank carry it out now, and again where it is silent. A worker may do it at the same moment. */
async function settle(app: App, id: string): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const payment = await find(app, id)
    if (payment.status !== 'Authorised' || performance.now() > deadline) return
    await settleNow(app.pool, { merchantId: payment.merchant_id, id: payment.id })
    await settlePayments(app, NEVER)
    await sleep(POLL_MS)
  }
}

/** A call that is not answered may have been carried out all the same. */
function noAnswer(): DomainError {
  return new DomainError(
    'BANK_UNAVAILABLE',
    'the payer has decided at the bank, which gives no answer: it may have heard the service, and may call back',
    { next: 'look at the payment; do the same again to ask the bank again' },
  )
}

/** What is left of it goes back, where it has settled, once the refunds under way have ended. */
async function refund(app: App, { id, merchant_id: merchantId }: PaymentRecord): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  for (;;) {
    const { status, refund_reserved_amount: reserved } = await find(app, id)
    if (status !== 'Settled') return
    if (parseAmount(reserved) === 0n) break
    if (performance.now() > deadline) return
    await resumeAllNow(app.pool, { merchantId, id })
    await resumeRefunds(app, NEVER)
    await sleep(POLL_MS)
  }
  await refundPayment(app, { merchantId, id, body: {}, rawBody: '{}', idempotencyKey: undefined })
}
