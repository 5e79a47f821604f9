import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { BankUnavailableError, bankOf } from '../../banks/connector.ts'
import type { RefundOutcome } from '../../banks/connector.ts'
import type { Posting } from '../../ledger/movements.ts'
import { postMovements } from '../../ledger/sql.ts'
import { failureOf } from '../../lib/failure-codes.ts'
import { makeConcurrentBatches } from '../../lib/concurrent-batches.ts'
import { continuedTraceparent, inSpan } from '../../lib/trace.ts'
import { formatNumeric, parseAmount, toNumeric } from '../../lib/money.ts'
import type { ChangedBy } from '../../wire/payments.ts'
import { announceMove, movePaymentIn, transitionOf } from '../move.ts'
import type { MoveApp } from '../move.ts'
import type { PaymentRecord } from '../record.ts'
import type { ClaimedRefund, RefundRecord } from './record.ts'
import { claimRefunds, finishRefund, enqueuePaymentWebhook, findRefund, releaseReservation } from './sql.ts'
import { lockPaymentRow } from '../sql.ts'

/** How long a bank may take over a refund before it stays PENDING (decision 21). */
const REFUND_TIMEOUT_MS = 5_000

const REFUNDS_MAX = 50

/**
 * How long no other worker claims a claimed refund, and the wait before the bank is asked again: longer than its answer may
 * take, and an hour where the bank has been silent, or not configured any more, for long.
 */
const WAIT = { secondsLeast: 10, secondsMost: 3_600 }

const runBatch = makeConcurrentBatches<ClaimedRefund>()

const SPAN = 'resume refund'

/**
 * Asks the bank again for refunds that a crash or its silence left PENDING. A job: one merchant's slow bank does not keep
 * the others waiting.
 * @param signal ends the job after the calls in progress; without one, it ends when all due refunds are processed
 */
export function resumeRefunds(app: App, signal?: AbortSignal): Promise<{ more: boolean }> {
  return runBatch(app, {
    limit: REFUNDS_MAX,
    claim: (limit) => claimRefunds(app.pool, { limit, ...WAIT }),
    work: ({ traceparent, is_own_trace: isOwn, ...refund }) =>
      inSpan({ name: SPAN, isOwn }, traceparent, async () => {
        await executeRefund(app, refund, { actor: 'BATCH_JOB' })
      }),
    failed: (error) => app.log.error({ err: error }, 'a refund could not be resumed; it is tried again'),
    signal,
  })
}

/**
 * Asks the bank for a PENDING refund, outside any transaction, and records its answer. The bank knows the refund by its
 * id, so asking twice gives money back once.
 * @returns the refund as it is now: still PENDING where the bank was silent
 */
export async function executeRefund(
  app: App,
  refund: RefundRecord,
  { actor }: { actor: ChangedBy },
): Promise<RefundRecord> {
  const payment = await app.batches.find.run({ merchant_id: refund.merchant_id, id: refund.payment_intent_id })
  if (payment.id === null) throw new Error('the payment of a refund is missing')
  const answer = await refundAtBank(app, { refund, payment })
  if (answer === undefined) return refund
  return recordAnswer(app, refund, { answer, actor })
}

async function refundAtBank(
  app: App,
  { refund, payment }: { refund: RefundRecord; payment: PaymentRecord },
): Promise<RefundOutcome | undefined> {
  try {
    const bank = bankOf(app.banks, payment.bank_connector)
    if (bank.refund === undefined) throw new Error(`the API of ${bank.id} does not refund`)
    return await bank.refund(
      {
        refundId: refund.id,
        paymentId: payment.id,
        endToEndId: payment.end_to_end_id,
        state: payment.bank_consent_id,
        amount: refund.amount,
        currency: payment.currency,
      },
      AbortSignal.timeout(REFUND_TIMEOUT_MS),
    )
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payment_id: payment.id }, 'the bank did not answer; the refund stays PENDING')
    return undefined
  }
}

type BankAnswer = {
  answer: RefundOutcome | { outcome: 'executed'; bankReference: string | null }
  actor: ChangedBy
  /** What records it, where no caller waits. */
  job?: 'resume-refunds' | 'import-statements' | undefined
}

async function recordAnswer(app: App, refund: RefundRecord, { answer, actor }: BankAnswer): Promise<RefundRecord> {
  const finished = await app.pool.transaction((tx) => finishRefundIn(tx, app, refund, { answer, actor }))
  announceRefund(app, finished)
  return finished.ended
}

/** A refund as it is after its end, and whether its payment is completely refunded with it. */
export type FinishedRefund = { ended: RefundRecord; completed: boolean; isFirst: boolean }

/** Records the bank's answer to a refund, in the caller's transaction; announceRefund follows its commit. */
export async function finishRefundIn(
  tx: DatabaseTransactionConnection,
  app: MoveApp,
  refund: RefundRecord,
  { answer, actor, job }: BankAnswer,
): Promise<FinishedRefund> {
  const key = { merchantId: refund.merchant_id, id: refund.id }
  const payment = await lockPaymentRow(tx, { merchantId: refund.merchant_id, id: refund.payment_intent_id })
  if (payment === null) throw new Error('the payment of a refund is missing')
  const isFirst = await finishRefund(tx, {
    ...key,
    status: answer.outcome === 'executed' ? 'EXECUTED' : 'FAILED',
    failureCode: answer.outcome === 'executed' ? null : answer.failureCode,
    bankReference: answer.outcome === 'executed' ? answer.bankReference : null,
  })
  const completed = isFirst && (await recordOnPayment(tx, app, { refund, payment, answer, actor, job }))
  // Another process may have asked too and recorded its answer first: that one counts.
  const ended = await findRefund(tx, key)
  if (ended === null) throw new Error('a refund that was finished is missing')
  return { ended, completed, isFirst }
}

/** Wakes what follows the end of a refund. */
export function announceRefund(app: Pick<App, 'log' | 'metrics' | 'wake'>, { ended, completed }: FinishedRefund): void {
  if (completed) announceMove(app, transitionOf({ from: 'Settled', on: 'refund' }), ended.payment_intent_id)
  else app.wake.notify('deliver-webhooks')
}

/** Books a finished refund in the ledger and on its payment; true where the payment is now completely refunded. */
async function recordOnPayment(
  tx: DatabaseTransactionConnection,
  app: MoveApp,
  {
    refund,
    payment,
    answer,
    actor,
    job = 'resume-refunds',
  }: BankAnswer & { refund: RefundRecord; payment: PaymentRecord },
): Promise<boolean> {
  if (answer.outcome === 'executed') await postMovements(tx, [postingOf(refund, payment)])
  const amount = parseAmount(refund.amount)
  const total = parseAmount(payment.refunded_amount) + (answer.outcome === 'executed' ? amount : 0n)
  const data = {
    id: refund.id,
    amount: formatNumeric(refund.amount, payment.currency),
    refundedTotal: formatNumeric(toNumeric(total), payment.currency),
  }
  if (total === parseAmount(payment.gross_amount)) {
    const move = { merchantId: payment.merchant_id, paymentId: payment.id, from: 'Settled', on: 'refund' } as const
    const moved = await movePaymentIn(tx, app, {
      ...move,
      actor,
      rawPayload:
        actor === 'BATCH_JOB' ? JSON.stringify({ job, reason: 'the bank executed the refund' }) : refund.raw_payload,
      refund: { amount: refund.amount, data },
    })
    if (moved.outcome !== 'MOVED') throw new Error('a Settled payment whose row is locked did not move')
    return true
  }
  const refunded = answer.outcome === 'executed' ? refund.amount : '0'
  const random = app.ids.for('refund end', refund.id)
  await releaseReservation(tx, {
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    reserved: refund.amount,
    refunded,
  })
  await enqueuePaymentWebhook(tx, {
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    deliveryId: random.uuid(),
    eventId: random.eventId(),
    eventType: answer.outcome === 'executed' ? 'payment.partially_refunded' : 'refund.failed',
    failure: answer.outcome === 'executed' ? null : failureJson(answer.failureCode),
    refund: JSON.stringify(data),
    test: app.config.mode === 'sandbox',
    traceparent: continuedTraceparent(),
  })
  return false
}

function postingOf(refund: RefundRecord, payment: PaymentRecord): Posting {
  return {
    merchantId: refund.merchant_id,
    movement: refund.dispute_id === null ? 'payment_refunded' : 'dispute_refunded',
    subjectId: refund.id,
    amount: refund.amount,
    currency: payment.currency,
  }
}

function failureJson(code: Parameters<typeof failureOf>[0]): string {
  const { iso_code: isoCode, ...failure } = failureOf(code)
  return JSON.stringify({ code: failure.code, reason: failure.reason, source: failure.source, isoCode })
}
