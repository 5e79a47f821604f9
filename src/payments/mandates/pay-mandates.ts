import type { App } from '../../app.ts'
import { BankUnavailableError, bankOf } from '../../banks/connector.ts'
import type { BankCallback, MandateOrder } from '../../banks/connector.ts'
import type { LockedConsent } from '../../consents/record.ts'
import { lockConsent } from '../../consents/sql.ts'
import type { FailureCode, FailureSource } from '../../lib/failure-codes.ts'
import { makeConcurrentBatches } from '../../lib/concurrent-batches.ts'
import { claimMandatePayments, keepMandatePayment, postponeMandatePayment } from './sql.ts'
import { announceMove, movePaymentIn, transitionOf } from '../move.ts'
import type { PaymentMove } from '../move.ts'
import type { PendingMandatePayment } from './record.ts'

const PAYMENTS_MAX = 50

/** How long a bank may take over each of its two answers. */
const BANK_TIMEOUT_MS = 5_000

/** How long no other worker claims a claimed payment: more than both time-outs. */
const LEASE_SECONDS = 15

/** The wait before a bank that gave no answer is asked again, at first and at most. */
const RETRY_WAIT = { secondsLeast: 2, secondsMost: 60 }

const runBatch = makeConcurrentBatches<PendingMandatePayment>()

/**
 * Asks banks to stage and authorise payments under mandates (decision 49). A bank knows a payment by its id, so asking
 * again after a crash makes no second payment. A payment whose bank stays silent for `consentSeconds` fails. A job: a bank
 * that hangs does not keep the payments of others waiting.
 * @param signal ends the job after the calls in progress; without one, it ends when all due payments are processed
 */
export function payMandates(app: App, signal?: AbortSignal): Promise<{ more: boolean }> {
  const { consentSeconds } = app.config
  return runBatch(app, {
    limit: PAYMENTS_MAX,
    claim: (limit, exceptBanks) =>
      claimMandatePayments(app.pool, { limit, leaseSeconds: LEASE_SECONDS, consentSeconds, exceptBanks }),
    laneOf: (payment) => payment.bank_connector,
    work: (payment) => processPayment(app, payment),
    failed: (error) =>
      app.log.error({ err: error }, 'a payment under a mandate could not be processed; it is tried again'),
    signal,
  })
}

async function processPayment(app: App, payment: PendingMandatePayment): Promise<void> {
  try {
    if (payment.status === 'AwaitingAuthorisation') return await authorise(app, payment)
    if (await stage(app, payment)) await authorise(app, { ...payment, status: 'AwaitingAuthorisation' })
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payment_id: payment.id }, 'the bank did not answer; the payment is tried again later')
    await postponeMandatePayment(app.pool, { ...keyOf(payment), ...RETRY_WAIT })
  }
}

/** Stages the payment at its bank; true where it can be authorised next. */
async function stage(app: App, payment: PendingMandatePayment): Promise<boolean> {
  if (!(await failUnlessUsable(app, payment))) return false
  const bank = bankOf(app.banks, payment.bank_connector)
  const answer = await bank.stageUnderMandate(orderOf(payment), AbortSignal.timeout(BANK_TIMEOUT_MS))
  if (answer.outcome === 'rejected') {
    await failPayment(app, payment, { failureCode: answer.failureCode })
    return false
  }
  return moveUnderLock(app, payment, { on: 'mandate staging', rawPayload: reason('the bank took the payment') })
}

async function authorise(app: App, payment: PendingMandatePayment): Promise<void> {
  if (!(await failUnlessUsable(app, payment))) return
  const bank = bankOf(app.banks, payment.bank_connector)
  const answer = await bank.authoriseUnderMandate(orderOf(payment), AbortSignal.timeout(BANK_TIMEOUT_MS))
  if (answer.outcome === 'rejected') return failPayment(app, payment, { failureCode: answer.failureCode })
  await moveUnderLock(app, payment, { on: 'mandate authorisation', ...authorisedBy(answer) })
}

function authorisedBy(answer: Extract<BankCallback['result'], { outcome: 'authorised' }>) {
  return {
    rawPayload: reason('the bank authorised the payment'),
    bankReference: answer.bankReference,
    settleInSeconds: answer.settleInSeconds,
  }
}

/** Before the bank is asked: fails a payment whose mandate has ended or whose bank was silent too long; else true. */
async function failUnlessUsable(app: App, payment: PendingMandatePayment): Promise<boolean> {
  const ended = await app.pool.transaction(async (tx) => {
    const consent = await lockConsent(tx, { merchantId: payment.merchant_id, id: payment.consent_id })
    const end = failureOfMandate(consent) ?? failureOfSilence(payment)
    return end === undefined ? undefined : { end, outcome: await movePaymentIn(tx, app, failureMove(payment, end)) }
  })
  if (ended?.outcome.outcome === 'MOVED') announce(app, payment, 'mandate rejection')
  return ended === undefined
}

type MoveStep = Pick<PaymentMove, 'on' | 'rawPayload' | 'bankReference' | 'settleInSeconds'>

/**
 * Moves a payment while its mandate is locked. A mandate that ended while the bank was asked fails the payment instead,
 * whatever the bank answered. True where the payment made the requested move.
 */
async function moveUnderLock(app: App, payment: PendingMandatePayment, step: MoveStep): Promise<boolean> {
  const { end, outcome } = await app.pool.transaction(async (tx) => {
    const found = failureOfMandate(await lockConsent(tx, { merchantId: payment.merchant_id, id: payment.consent_id }))
    const move = found === undefined ? { ...moveOf(payment), ...step } : failureMove(payment, found)
    const moved = await movePaymentIn(tx, app, move)
    // A move ends the lease, but the bank is asked again right after staging.
    if (found === undefined && step.on === 'mandate staging')
      await keepMandatePayment(tx, { ...keyOf(payment), seconds: LEASE_SECONDS })
    return { end: found, outcome: moved }
  })
  if (outcome.outcome !== 'MOVED') return false
  announce(app, payment, end === undefined ? step.on : 'mandate rejection')
  return end === undefined
}

type Failure = { failureCode: FailureCode; failureSource?: FailureSource }

async function failPayment(app: App, payment: PendingMandatePayment, failure: Failure): Promise<void> {
  const outcome = await app.pool.transaction((tx) => movePaymentIn(tx, app, failureMove(payment, failure)))
  if (outcome.outcome === 'MOVED') announce(app, payment, 'mandate rejection')
}

/** The failure of payments under a mandate that has ended; undefined while it is usable. */
function failureOfMandate(consent: LockedConsent | null): Failure | undefined {
  if (consent === null) throw new Error('the mandate of a payment is missing')
  if (consent.status === 'REVOKED') {
    return consent.revoked_by === 'MERCHANT'
      ? { failureCode: 'CANCELLED_BY_MERCHANT' }
      : { failureCode: 'ACCESS_DENIED', failureSource: 'PAYER' }
  }
  return consent.status === 'AUTHORISED' && !consent.is_over ? undefined : { failureCode: 'CONSENT_EXPIRED' }
}

/** A bank that never took the payment is unavailable; one that took it timed out, and executes nothing unless asked. */
function failureOfSilence({ is_overdue: isOverdue, status }: PendingMandatePayment): Failure | undefined {
  if (!isOverdue) return undefined
  return { failureCode: status === 'Initiated' ? 'BANK_UNAVAILABLE' : 'BANK_TIMEOUT' }
}

function failureMove(payment: PendingMandatePayment, failure: Failure): PaymentMove {
  const rawPayload = reason(`the payment was rejected: ${failure.failureCode}`)
  return { ...moveOf(payment), on: 'mandate rejection', rawPayload, ...failure }
}

function moveOf({ merchant_id, id, status }: PendingMandatePayment) {
  return { merchantId: merchant_id, paymentId: id, from: status }
}

function announce(app: App, { id, status }: PendingMandatePayment, on: PaymentMove['on']): void {
  announceMove(app, transitionOf({ from: status, on }), id)
}

function keyOf({ merchant_id, id }: PendingMandatePayment) {
  return { merchantId: merchant_id, id }
}

function orderOf(payment: PendingMandatePayment): MandateOrder {
  return {
    paymentId: payment.id,
    endToEndId: payment.end_to_end_id,
    state: payment.bank_consent_id,
    amount: payment.gross_amount,
    currency: payment.currency,
    bankConsentReference: payment.bank_consent_reference,
    remittanceReference: payment.remittance_reference ?? undefined,
    scenario: payment.sandbox_scenario ?? undefined,
  }
}

function reason(text: string): string {
  return JSON.stringify({ job: 'pay-mandates', reason: text })
}
