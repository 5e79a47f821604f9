import { formatNumeric } from '../../lib/money.ts'
import { createPayoutFile } from '../../payout-files/create-payout-file.ts'
import { getPayoutFile } from '../../payout-files/get-payout-file.ts'
import { importPayoutReport } from '../../payout-files/import-payout-report.ts'
import { listPayoutFiles } from '../../payout-files/list-payout-files.ts'
import type { FileRefund, PayoutFileContent, PayoutFileRecord } from '../../payout-files/record.ts'
import type { PayoutRecord } from '../../payouts/record.ts'
import { isDryRun } from '../../wire/operation.ts'
import type * as wire from '../../wire/payout-files.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const payoutFiles: Handlers<typeof wire> = {
  /** POST /api/v1/admin/payout-files */
  async createPayoutFile(app, { principal, query }) {
    const { file, leftOut, leftOutRefunds, hasMore } = await createPayoutFile(app, {
      actor: operatorOf(principal).actor,
    })
    return {
      status: 200,
      body: {
        // A dry run leaves nothing in the audit trail, so it shows no account numbers.
        file: file === null ? null : { ...presentFile(file), content: isDryRun(query) ? null : file.content },
        left_out: leftOut.map(({ payout, reason }) => ({ ...presentAmount(payout), reason })),
        left_out_refunds: leftOutRefunds.map(({ refund, reason }) => ({ ...presentRefund(refund), reason })),
        has_more: hasMore,
      },
    }
  },

  /** GET /api/v1/admin/payout-files */
  async listPayoutFiles(app, { query }) {
    const { rows, nextCursor } = await listPayoutFiles(app, query)
    const data = rows.map((row) => presentFile(row))
    return { status: 200, body: { data, has_more: nextCursor !== null, next_cursor: nextCursor } }
  },

  /** GET /api/v1/admin/payout-files/{id} */
  async getPayoutFile(app, { principal, params }) {
    const file = await getPayoutFile(app, { id: params.id, actor: operatorOf(principal).actor })
    return { status: 200, body: presentContent(file) }
  },

  /** POST /api/v1/admin/payout-reports */
  async importPayoutReport(app, { principal, body }) {
    const { actor } = operatorOf(principal)
    const { content, confirm_rejection: isConfirmed } = body
    const { file, rejected, rejectedRefunds, counts } = await importPayoutReport(app, { content, isConfirmed, actor })
    return {
      status: 200,
      body: {
        file: presentFile(file),
        rejected: rejected.map(({ payout, reason, text }) => ({
          ...presentAmount(payout),
          failure_code: payout.failure_code ?? '',
          bank_reason: reason,
          bank_text: text,
        })),
        rejected_refunds: rejectedRefunds.map(({ refund, failureCode, reason, text }) => ({
          ...presentRefund(refund),
          failure_code: failureCode,
          bank_reason: reason,
          bank_text: text,
        })),
        accepted_count: counts.ACCEPTED,
        rejected_count: counts.REJECTED,
        pending_count: counts.PENDING,
        duplicate_count: counts.DUPLICATE,
        doubtful_count: counts.DOUBTFUL,
        unanswered_count: counts.NONE,
        needs_review: counts.DOUBTFUL > 0 ? doubtfulText(file) : null,
      },
    }
  },
}

function doubtfulText({ message_id: messageId }: PayoutFileRecord): string {
  return (
    'None of the doubtful payments has failed yet: banks also reject payments so when a file is uploaded twice. ' +
    `Ask the bank: "Have you made, or will you make, any payment of message ${messageId}?" ` +
    'If it makes none, run `svc payouts import <answer> --confirm-rejection` (`confirm_rejection` in the API). ' +
    'If it makes some, run `svc payouts fail <payout>` or `svc payouts fail-refund <refund>` for each one that it does not make.'
  )
}

/** The sum of several currencies is written with two digits, as in the file. */
function presentFile({ content_hash, control_sum, ...file }: PayoutFileRecord): wire.PayoutFile {
  const { id, message_id, payout_count, refund_count, created_by, created_at } = file
  const sum = formatNumeric(control_sum, 'GBP')
  return {
    id,
    message_id,
    payout_count,
    refund_count,
    control_sum: sum,
    content_sha256: content_hash,
    created_by,
    created_at,
  }
}

function presentContent({ content, ...file }: PayoutFileContent): wire.PayoutFile & { content: string } {
  return { ...presentFile(file), content }
}

function presentAmount({ id, merchant_id, currency, amount }: PayoutRecord) {
  return { payout_id: id, merchant_id, currency, amount: formatNumeric(amount, currency) }
}

function presentRefund({ id, payment_intent_id, merchant_id, currency, amount }: FileRefund) {
  return {
    refund_id: id,
    payment_id: payment_intent_id,
    merchant_id,
    currency,
    amount: formatNumeric(amount, currency),
  }
}
