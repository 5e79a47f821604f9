import type { App } from '../app.ts'
import { BankUnavailableError, bankOf } from '../banks/connector.ts'
import type { ExecutionOutcome } from '../banks/connector.ts'
import { makeConcurrentBatches } from '../lib/concurrent-batches.ts'
import { inSpan } from '../lib/trace.ts'
import { movePayment } from './move.ts'
import type { DueSettlement, MoveOutcome } from './record.ts'
import { claimSettlements, postponeAfterSilence, postponeSettlement } from './claim-sql.ts'
import { clearUnanswered, insertIfOpenTooLong, insertSettledAfterFailure, insertUnanswered } from './unanswered-sql.ts'

const PAYMENTS_MAX = 64

/** How long a bank may take to execute a payment. */
const EXECUTE_TIMEOUT_MS = 5_000

/** How long no other worker claims a claimed payment: more than the time-out. */
const LEASE_SECONDS = 10

/** The wait before a bank that gave no answer is asked again, at first and at most. */
const RETRY_SECONDS = 2
const RETRY_SECONDS_MAX = 60

/** How often a payment is looked at that is not sent again and waits for an operator. */
const UNANSWERED_SECONDS = 3_600

const SPAN = { name: 'settle payment' }

const runBatch = makeConcurrentBatches<DueSettlement>()

/**
 * Settles payments: executes authorised payments that are due, and records the bank's answer (decision 16). Only this
 * job makes a payment Settled. A bank that has accepted a payment and not settled it is asked again. The bank knows
 * an order by the payment's id, so asking again after a crash moves no money twice. A job: a bank that hangs does not
 * keep the payments of others waiting.
 * @param signal ends the job after the calls in progress; without one, it ends when all due payments are processed
 */
export function settlePayments(app: App, signal?: AbortSignal): Promise<{ more: boolean }> {
  return runBatch(app, {
    limit: PAYMENTS_MAX,
    claim: (limit, exceptBanks) => claimSettlements(app.pool, { limit, leaseSeconds: LEASE_SECONDS, exceptBanks }),
    laneOf: (payment) => payment.bank_connector,
    work: (payment) => inSpan(SPAN, payment.traceparent, () => settlePayment(app, payment)),
    failed: (error) => app.log.error({ err: error }, 'a settlement failed; it is tried again when its lease ends'),
    signal,
  })
}

async function settlePayment(app: App, payment: DueSettlement): Promise<void> {
  const answer = await executeAtBank(app, payment)
  if (answer === undefined) return
  if (answer.outcome === 'pending') return postpone(app, payment, answer.askAgainInSeconds)
  if (answer.outcome === 'unanswered') return noteUnanswered(app, payment, answer)
  const moved = await recordFinal(app, payment, answer)
  if (moved.outcome === 'MOVED' && payment.is_unanswered) await clearUnanswered(app.pool, payment.id)
  if (answer.outcome === 'executed' && moved.outcome === 'STALE' && moved.status === 'Failed')
    await noteSettledAfterFailure(app, payment, answer.bankReference)
}

type FinalOutcome = Extract<ExecutionOutcome, { outcome: 'executed' | 'rejected' }>

function recordFinal(app: App, payment: DueSettlement, answer: FinalOutcome): Promise<MoveOutcome> {
  const move = { merchantId: payment.merchant_id, paymentId: payment.id, from: 'Authorised' } as const
  if (answer.outcome === 'executed') {
    const rawPayload = JSON.stringify({ job: 'settle-payments', reason: 'the bank executed the payment' })
    const { bankReference } = answer
    const payerAccount = { consentId: payment.consent_id, account: answer.debtorAccount }
    return movePayment(app, { ...move, on: 'settlement', rawPayload, bankReference, payerAccount })
  }
  const rawPayload = JSON.stringify({
    job: 'settle-payments',
    reason: `the bank rejected the payment: ${answer.failureCode}`,
  })
  return movePayment(app, { ...move, on: 'execution rejected', rawPayload, failureCode: answer.failureCode })
}

async function executeAtBank(app: App, payment: DueSettlement) {
  try {
    return await bankOf(app.banks, payment.bank_connector).execute(
      {
        paymentId: payment.id,
        endToEndId: payment.end_to_end_id,
        state: payment.bank_consent_id,
        amount: payment.gross_amount,
        currency: payment.currency,
      },
      AbortSignal.timeout(EXECUTE_TIMEOUT_MS),
    )
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) {
      await insertIfOpenTooLong(app.pool, payment)
      throw error
    }
    app.log.warn({ err: error, payment_id: payment.id }, 'the bank did not answer; the payment is executed again later')
    const wait = { secondsLeast: RETRY_SECONDS, secondsMost: RETRY_SECONDS_MAX }
    await postponeAfterSilence(app.pool, { merchantId: payment.merchant_id, id: payment.id, ...wait })
    await insertIfOpenTooLong(app.pool, payment)
    return undefined
  }
}

/** Its money is at our bank and in no balance: an operator says whose it is (resolve-payment.ts). */
async function noteSettledAfterFailure(
  app: App,
  { id, merchant_id: merchantId, bank_connector: bank }: DueSettlement,
  bankReference: string,
): Promise<void> {
  app.log.error(
    { payment_id: id, bank, bank_reference: bankReference },
    'the bank has settled a payment that has failed',
  )
  await insertSettledAfterFailure(app.pool, { id, merchantId, bankReference })
}

/** An order that is not sent again waits for an operator (resolve-payment.ts). */
async function noteUnanswered(
  app: App,
  payment: DueSettlement,
  { reason, askAgainInSeconds }: { reason: string; askAgainInSeconds: number | undefined },
): Promise<void> {
  app.log.warn({ payment_id: payment.id, bank: payment.bank_connector, reason }, 'the bank may have taken the payment')
  if (askAgainInSeconds === undefined) await insertUnanswered(app.pool, payment)
  await postpone(app, payment, askAgainInSeconds ?? UNANSWERED_SECONDS)
}

async function postpone(app: App, payment: DueSettlement, seconds: number): Promise<void> {
  await postponeSettlement(app.pool, { merchantId: payment.merchant_id, id: payment.id, seconds })
  await insertIfOpenTooLong(app.pool, payment)
}
