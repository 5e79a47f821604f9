import type { z } from 'zod'
import {
  PayoutFile,
  createPayoutFile,
  getPayoutFile,
  importPayoutReport,
  listPayoutFiles,
} from '../../src/wire/payout-files.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import { readBankFile } from '../kit/bank-file.ts'
import { CHANGING, change, dryRun } from '../kit/change.ts'
import { command, argument } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { writeTarget } from '../kit/export-pages.ts'
import { reading } from '../kit/reading.ts'
import { tableBelow } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { targetFile } from '../output/target-file.ts'

const exportFile = command({
  command: 'payouts export',
  summary: 'Export waiting payouts and refunds as a file for the bank',
  details: 'The payouts are SENT with it, and in no other file: have the bank execute it once.',
  examples: [
    'svc payouts export --file payouts.xml',
    'svc payouts export --again 01a1fd03-f879-7eb7-872f-a2b4358c4f6d --file payouts.xml',
  ],
  flags: {
    ...CHANGING,
    file: {
      value: 'path',
      summary: 'File to write, which must not exist; - is standard output',
      required: true,
    },
    again: { value: 'id', summary: 'Write an earlier file again, with the same bytes' },
  },
  async run(context, { file: named, again, dryRun: isTried }) {
    const client = context.client()
    // Looked at before the service marks the payouts as SENT. What is there is never replaced: the bank may have it.
    const target = targetFile(context.io.cwd, named, { force: false })
    if (isTried && again === undefined) return dryRun(context, client, createPayoutFile, { input: {} })
    const outcome =
      again === undefined
        ? (await call(client, createPayoutFile, {})).body
        : {
            file: (await call(client, getPayoutFile, { params: { id: again } })).body,
            left_out: [],
            left_out_refunds: [],
            has_more: false,
          }
    for (const { payout_id: id, reason } of outcome.left_out) context.note(`${id} is left out: ${LEFT_OUT[reason]}`)
    for (const { refund_id: id, reason } of outcome.left_out_refunds)
      context.note(`refund ${id} is left out: ${LEFT_OUT[reason]}`)
    if (outcome.has_more) context.note('More payouts or refunds wait than one file takes: export again')
    if (outcome.file === null)
      return context.print.record(outcome, [['File', 'none: no payout or refund waits for one']], { id: '' })
    const { content: written, ...file } = outcome.file
    // Only a dry run has none.
    const content = written ?? ''
    context.note(`To write this file again: svc payouts export --again ${file.id} --file <path>`)
    if (target === undefined) context.io.stdout.write(content)
    else await writeTarget(target, client, (write) => write(content))
    if (target !== undefined) printFile(context, file)
  },
})

const LEFT_OUT = {
  NO_PAYING_ACCOUNT: 'SVC_PAYOUT_ACCOUNTS has no account for its currency',
  NAME_NOT_WRITABLE: "the bank cannot read its account holder's name",
  ACCOUNT_UNREADABLE: "its account's number cannot be opened; the log of the service has the reason",
} as const

function printFile(context: Context, file: PayoutFile): void {
  context.print.record(file, [
    ['Id', file.id],
    ['Message', file.message_id],
    ['Payouts', String(file.payout_count)],
    ['Refunds', String(file.refund_count)],
    ['Control sum', file.control_sum],
    ['SHA-256', file.content_sha256],
    ['Created', `${shortTime(file.created_at)} by ${file.created_by}`],
  ])
}

const listFiles = reading({
  command: 'payouts files',
  summary: 'List files of payouts, newest first',
  examples: ['svc payouts files'],
  flags: {},
  operation: listPayoutFiles,
  view: {
    fields: PayoutFile,
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'message', value: (row) => row.message_id, dropped: 2 },
      { title: 'payouts', value: (row) => String(row.payout_count), align: 'right' },
      { title: 'refunds', value: (row) => String(row.refund_count), align: 'right' },
      { title: 'control sum', value: (row) => row.control_sum, align: 'right' },
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'by', value: (row) => row.created_by, dropped: 1 },
    ],
    empty: 'There are no files of payouts.',
  },
})

const importReport = command({
  command: 'payouts import',
  summary: "Import a bank's answer to a file of payouts",
  examples: ['svc payouts import answer.xml'],
  flags: {
    file: argument('file', "The bank's answer: pain.002"),
    confirmRejection: { summary: 'Fail all that the answer rejects: the bank says that it makes none' },
    ...CHANGING,
  },
  async run(context, input) {
    const content = await readBankFile(context, input.file)
    const outcome = await change(context, context.client(), importPayoutReport, {
      input: { body: { content, ...(input.confirmRejection ? { confirm_rejection: true } : {}) } },
      options: input,
    })
    if (outcome === undefined) return
    const { file: answered, needs_review: review } = outcome
    if (review !== null) context.note(review)
    const rejected: Rejected[] = [
      ...outcome.rejected.map(({ payout_id: id, ...row }) => ({ ...row, id, kind: 'payout' })),
      ...outcome.rejected_refunds.map(({ refund_id: id, ...row }) => ({ ...row, id, kind: 'refund' })),
    ]
    context.print.record(
      outcome,
      [
        ['File', answered.id],
        ['Failed now', String(rejected.length)],
        ['Failed before', String(outcome.rejected_count - rejected.length)],
        ['Accepted', String(outcome.accepted_count)],
        ['Pending', String(outcome.pending_count)],
        ['Copies', String(outcome.duplicate_count)],
        ['Doubtful', String(outcome.doubtful_count)],
        ['Not answered', String(outcome.unanswered_count)],
      ],
      { after: tableBelow(context.print, rejected, REJECTED_COLUMNS) },
    )
  },
})

const REJECTED_COLUMNS: readonly Column<Rejected>[] = [
  { title: 'kind', value: (row) => row.kind },
  { title: 'id', value: (row) => row.id, short: endOfId },
  { title: 'merchant', value: (row) => row.merchant_id, short: endOfId },
  { title: 'amount', value: (row) => row.amount, align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'failure', value: (row) => row.failure_code },
  { title: 'bank', value: (row) => row.bank_reason ?? '' },
  { title: 'text', value: (row) => row.bank_text ?? '', dropped: 1 },
]
type Rejected = Omit<z.infer<(typeof importPayoutReport.replies)[200]>['rejected'][number], 'payout_id'> & {
  id: string
  kind: string
}

export const FILES = [exportFile, listFiles, importReport]
