import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { invalidField } from '../lib/errors.ts'
import { UnreadableFile, shown } from '../lib/file-text.ts'
import { announcePayout, movePayout } from '../payouts/move.ts'
import type { PayoutRecord } from '../payouts/record.ts'
import { batchId } from './create-payout-file.ts'
import { failureOfReason } from './failure-of-reason.ts'
import { payoutFileNotFound } from './get-payout-file.ts'
import { readPain002 } from './read-pain-002.ts'
import type { BankAnswer, ReportedStatus, StatusReport } from './read-pain-002.ts'
import type { PayoutFileRecord } from './record.ts'
import { findFileOfMessage, lockPayoutsOfFile } from './sql.ts'

export type PayoutReport = {
  file: PayoutFileRecord
  /** Payouts that have failed now; the money is the merchant's balance again. */
  rejected: readonly { payout: PayoutRecord; reason: string | null; text: string | null }[]
  /** How many payouts of the file have each answer; rejections also where they were known before. */
  counts: Readonly<Record<BankAnswer | 'NONE', number>>
}

type ReportApp = Pick<App, 'pool' | 'ids' | 'config' | 'log' | 'wake'>

/**
 * Takes what the bank answers to a file of payouts: a rejected payout fails, and all others wait for the bank's statement.
 * Importing twice changes nothing.
 * @throws {DomainError} VALIDATION_FAILED at `content`, PAYOUT_FILE_NOT_FOUND for an answer to another message
 */
export async function importPayoutReport(
  app: ReportApp,
  { content, actor }: { content: string; actor: Actor },
): Promise<PayoutReport> {
  const report = readReport(content)
  const outcome = await app.pool.transaction(async (tx) => {
    const file = await findFileOfMessage(tx, report.messageId)
    if (file === null) throw payoutFileNotFound(`no file of payouts was the message ${shown(report.messageId)}`)
    const payouts = await lockPayoutsOfFile(tx, file.id)
    refuseOthers(report, payouts)
    const answerTo = answersOf(report)
    const answered = payouts.map((payout) => ({ payout, status: answerTo(payout) }))
    const rejected = await fail(app, tx, answered)
    const after = { message_id: file.message_id, rejected_payout_ids: rejected.map(({ payout }) => payout.id) }
    if (rejected.length > 0)
      await recordAction(app, tx, {
        actor,
        action: 'payout_report.import',
        merchantId: null,
        subjectId: file.id,
        after,
      })
    return { file, rejected, counts: countsOf(answered) }
  })
  for (const { payout } of outcome.rejected) announcePayout(app, payout)
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

/** An answer to a payment that is not in the file is an answer to another file, and nothing of it is trusted. */
function refuseOthers({ statuses }: StatusReport, payouts: readonly PayoutRecord[]): void {
  const known = new Set(payouts.map((payout) => payout.end_to_end_id))
  const other = statuses.find(({ about, id }) => about === 'payment' && !known.has(id))
  if (other !== undefined) throw invalidField('content', 'MISMATCH', `the file has no payment ${shown(other.id)}`)
}

/** The answer to a payout: its own, else the one to its batch, else the one to the message. */
function answersOf({ messageId, statuses }: StatusReport): (payout: PayoutRecord) => ReportedStatus | undefined {
  const byId = new Map(statuses.map((status) => [`${status.about} ${status.id}`, status]))
  return (payout) =>
    byId.get(`payment ${payout.end_to_end_id}`) ??
    byId.get(`batch ${batchId(messageId, payout.currency)}`) ??
    byId.get(`message ${messageId}`)
}

type Answered = { payout: PayoutRecord; status: ReportedStatus | undefined }

async function fail(
  app: ReportApp,
  tx: DatabaseTransactionConnection,
  answered: readonly Answered[],
): Promise<PayoutReport['rejected']> {
  const rejected: PayoutReport['rejected'][number][] = []
  for (const { payout, status } of answered) {
    if (status?.answer !== 'REJECTED') continue
    const { merchant_id: merchantId, id } = payout
    const failureCode = failureOfReason(status.reason)
    const key = { merchantId, id, from: 'SENT', changedBy: 'OPERATOR' } as const
    const moved = await movePayout(tx, app, { ...key, on: 'rejection', failureCode })
    if (moved !== null) rejected.push({ payout: moved, reason: status.reason, text: status.text })
  }
  return rejected
}

function countsOf(answered: readonly Answered[]): PayoutReport['counts'] {
  const counts = { ACCEPTED: 0, REJECTED: 0, PENDING: 0, DUPLICATE: 0, NONE: 0 }
  for (const { status } of answered) counts[status?.answer ?? 'NONE'] += 1
  return counts
}
