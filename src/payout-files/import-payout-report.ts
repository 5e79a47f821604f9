import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { invalidField } from '../lib/errors.ts'
import { UnreadableFile, shown } from '../lib/file-text.ts'
import { announceRefund, finishRefundIn } from '../payments/refunds/execute-refund.ts'
import type { FinishedRefund } from '../payments/refunds/execute-refund.ts'
import { findRefund } from '../payments/refunds/sql.ts'
import { announcePayout, movePayouts } from '../payouts/move.ts'
import type { PayoutRecord } from '../payouts/record.ts'
import { batchId } from './create-payout-file.ts'
import { failureOfReason, isReasonOfPayee } from './failure-of-reason.ts'
import { payoutFileNotFound } from './get-payout-file.ts'
import { readPain002 } from './read-pain-002.ts'
import type { BankAnswer, ReportedStatus, StatusReport } from './read-pain-002.ts'
import type { FileRefund, PayoutFileRecord } from './record.ts'
import { listRefundsOfFile } from './refunds-sql.ts'
import { findFileOfMessage, lockPayoutsOfFile } from './sql.ts'

export type PayoutReport = {
  file: PayoutFileRecord
  /** Payouts that have failed now; the money is the merchant's balance again. */
  rejected: readonly { payout: PayoutRecord; reason: string | null; text: string | null }[]
  /** Refunds that have failed now; their amounts can be refunded again. */
  rejectedRefunds: readonly RejectedRefund[]
  /** How many payouts and refunds of the file have each answer; rejections also where they were known before. */
  counts: Readonly<Record<FileAnswer | 'NONE', number>>
}

/** A rejection that may be that of a second upload (decision 430) is doubtful, and nothing fails by it. */
export type FileAnswer = BankAnswer | 'DOUBTFUL'
type Status = Omit<ReportedStatus, 'answer'> & { answer: FileAnswer }

type RejectedRefund = {
  refund: FileRefund
  failureCode: FailureCode
  finished: FinishedRefund
  reason: string | null
  text: string | null
}

type ReportApp = Pick<App, 'pool' | 'ids' | 'sealer' | 'config' | 'log' | 'metrics' | 'wake'>

/**
 * Takes what the bank answers to a file of payouts: a rejected payout or refund fails, and all others wait for the bank's
 * statement. Importing twice changes nothing.
 * @param isConfirmed an operator has asked the bank: it makes none of the payments that the answer rejects
 * @throws {DomainError} VALIDATION_FAILED at `content`, PAYOUT_FILE_NOT_FOUND for an answer to another message
 */
export async function importPayoutReport(
  app: ReportApp,
  { content, isConfirmed, actor }: { content: string; isConfirmed: boolean; actor: Actor },
): Promise<PayoutReport> {
  const report = readReport(content)
  const outcome = await app.pool.transaction(async (tx) => {
    const file = await findFileOfMessage(tx, report.messageId)
    if (file === null) throw payoutFileNotFound(`no file of payouts was the message ${shown(report.messageId)}`)
    const payouts = await lockPayoutsOfFile(tx, file.id)
    const refunds = await listRefundsOfFile(tx, file.id)
    refuseOthers(report, [...payouts, ...refunds])
    const answerTo = answersOf(report)
    const statusOf = (payment: Sent) => believed(payment, answerTo(payment), isConfirmed)
    const answered = payouts.map((payout) => ({ payout, status: statusOf(payout) }))
    const answeredRefunds = refunds.map((refund) => ({ refund, status: statusOf(refund) }))
    const rejected = await fail(app, tx, answered)
    const rejectedRefunds = await failRefunds(app, tx, answeredRefunds)
    const counts = countsOf([...answered, ...answeredRefunds])
    const after = {
      message_id: file.message_id,
      rejected_payout_ids: rejected.map(({ payout }) => payout.id),
      rejected_refund_ids: rejectedRefunds.map(({ refund }) => refund.id),
      ...(isConfirmed ? { rejection_confirmed: true } : {}),
      ...(counts.DOUBTFUL > 0 ? { doubtful_count: counts.DOUBTFUL } : {}),
    }
    if (rejected.length + rejectedRefunds.length + counts.DOUBTFUL > 0)
      await recordAction(app, tx, {
        actor,
        action: 'payout_report.import',
        merchantId: null,
        subjectId: file.id,
        after,
      })
    return { file, rejected, rejectedRefunds, counts }
  })
  for (const { payout } of outcome.rejected) announcePayout(app, payout)
  for (const { finished } of outcome.rejectedRefunds) announceRefund(app, finished)
  const { DOUBTFUL: doubtfulCount } = outcome.counts
  if (doubtfulCount > 0)
    app.log.warn(
      { payout_file_id: outcome.file.id, count: doubtfulCount },
      'a bank rejects payments of a file that it may have made; none of them fails until an operator confirms it',
    )
  return outcome
}

function readReport(content: string): StatusReport {
  try {
    return readPain002(content.replace(/^[\uFEFF\s]+/, ''))
  } catch (error) {
    if (error instanceof UnreadableFile) throw invalidField('content', 'INVALID', error.message)
    throw error
  }
}

/** A payment of a file: a payout or a refund. */
type Sent = Pick<PayoutRecord, 'end_to_end_id' | 'currency'> & { status: string }

/** An answer to a payment that is not in the file is an answer to another file, and nothing of it is trusted. */
function refuseOthers({ statuses }: StatusReport, payments: readonly Sent[]): void {
  const known = new Set(payments.map((payment) => payment.end_to_end_id))
  const other = statuses.find(({ about, id }) => about === 'payment' && !known.has(id))
  if (other !== undefined) throw invalidField('content', 'MISMATCH', `the file has no payment ${shown(other.id)}`)
}

/** The answer to a payment: its own, else the one to its batch, else the one to the message. */
function answersOf({ messageId, statuses }: StatusReport): (payment: Sent) => ReportedStatus | undefined {
  const byId = new Map(statuses.map((status) => [`${status.about} ${status.id}`, status]))
  return (payment) =>
    byId.get(`payment ${payment.end_to_end_id}`) ??
    byId.get(`batch ${batchId(messageId, payment.currency)}`) ??
    byId.get(`message ${messageId}`)
}

/**
 * The answer as far as it is believed. A bank that received a file twice rejects the copy, as a whole or payment by payment,
 * often by a reason of its own, or since the first has used up the balance: to believe it would pay up to 1,000 payouts again.
 * Only a reason of the payee is never a copy's. What failed before stays rejected.
 */
function believed(payment: Sent, status: ReportedStatus | undefined, isConfirmed: boolean): Status | undefined {
  if (status?.answer !== 'REJECTED' || isConfirmed || payment.status === 'FAILED') return status
  const isCertain = status.causedAt === 'payment' && isReasonOfPayee(status.reason)
  return isCertain ? status : { ...status, answer: 'DOUBTFUL' }
}

type Answered = { payout: PayoutRecord; status: Status | undefined }

async function fail(
  app: ReportApp,
  tx: DatabaseTransactionConnection,
  answered: readonly Answered[],
): Promise<PayoutReport['rejected']> {
  const moves = answered.flatMap(({ payout: { merchant_id: merchantId, id }, status }) => {
    if (status?.answer !== 'REJECTED') return []
    const failureCode = failureOfReason(status.reason)
    return [{ merchantId, id, from: 'SENT', changedBy: 'OPERATOR', on: 'rejection', failureCode } as const]
  })
  const moved = new Map((await movePayouts(tx, app, moves)).map((payout) => [payout.id, payout]))
  return answered.flatMap(({ payout: { id }, status }) => {
    const payout = moved.get(id)
    return payout === undefined ? [] : [{ payout, reason: status?.reason ?? null, text: status?.text ?? null }]
  })
}

async function failRefunds(
  app: ReportApp,
  tx: DatabaseTransactionConnection,
  answered: readonly { refund: FileRefund; status: Status | undefined }[],
): Promise<RejectedRefund[]> {
  const rejected: RejectedRefund[] = []
  for (const { refund, status } of answered) {
    if (status?.answer !== 'REJECTED') continue
    const known = await findRefund(tx, { merchantId: refund.merchant_id, id: refund.id })
    if (known?.status !== 'PENDING') continue
    const failureCode = failureOfReason(status.reason)
    const answer = { outcome: 'refused', failureCode } as const
    const finished = await finishRefundIn(tx, app, known, { answer, actor: 'BATCH_JOB' })
    if (finished.isFirst) rejected.push({ refund, failureCode, finished, reason: status.reason, text: status.text })
  }
  return rejected
}

function countsOf(answered: readonly Pick<Answered, 'status'>[]): PayoutReport['counts'] {
  const counts = { ACCEPTED: 0, REJECTED: 0, PENDING: 0, DUPLICATE: 0, DOUBTFUL: 0, NONE: 0 }
  for (const { status } of answered) counts[status?.answer ?? 'NONE'] += 1
  return counts
}
