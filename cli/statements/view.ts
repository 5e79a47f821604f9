import { Statement, StatementLine, UnmatchedMovement } from '../../src/wire/statements.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import type { Context } from '../kit/context.ts'
import type { ListView } from '../output/output.ts'

export const STATEMENT_VIEW: ListView<Statement> = {
  fields: Statement,
  columns: [
    { title: 'id', value: (row) => row.id, short: endOfId },
    { title: 'statement', value: (row) => row.reference, least: 12 },
    { title: 'account', value: (row) => row.account, least: 12 },
    { title: 'opening', value: (row) => row.opening_amount ?? '', align: 'right', dropped: 2 },
    { title: 'closing', value: (row) => row.closing_amount ?? '', align: 'right' },
    { title: 'cur', value: (row) => row.currency ?? '' },
    { title: 'lines', value: (row) => String(row.line_count), align: 'right' },
    { title: 'new', value: (row) => String(row.new_line_count), align: 'right' },
    { title: 'imported', value: (row) => shortTime(row.imported_at), short: minuteOf, dropped: 1 },
  ],
  empty: 'There are no imported statements.',
}

export const LINE_VIEW: ListView<StatementLine> = {
  fields: StatementLine,
  columns: [
    { title: 'id', value: (row) => row.id, short: endOfId },
    { title: 'booked', value: (row) => row.booked_on },
    { title: 'amount', value: signedAmount, align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'matched by', value: (row) => row.matched_by ?? '', least: 10 },
    { title: 'payment', value: (row) => row.payment_id ?? row.payout_id ?? '', short: endOfId },
    { title: 'reference', value: (row) => row.end_to_end_id ?? row.remittance ?? '', dropped: 1, least: 18 },
  ],
  empty: 'There are no such lines.',
}

function signedAmount({ direction, amount }: StatementLine): string {
  return direction === 'DEBIT' ? `-${amount}` : amount
}

export function printLine(context: Context, line: StatementLine): void {
  context.print.record(line, [
    ['Id', line.id],
    ['Booked', line.booked_on],
    ['Amount', `${signedAmount(line)} ${line.currency}`],
    ['Account', line.account],
    ['Bank reference', line.bank_reference ?? ''],
    ['End-to-end id', line.end_to_end_id ?? ''],
    ['Reference', line.remittance ?? ''],
    ['Return reason', line.return_reason ?? ''],
    ['Matched by', line.matched_by ?? ''],
    ['Payment', line.payment_id ?? ''],
    ['Refund', line.refund_id ?? ''],
    ['Payout', line.payout_id ?? ''],
    ['Reason', line.resolution_reason ?? ''],
  ])
}

function idOf({ refund_id, payment_id, payout_id }: UnmatchedMovement): string {
  return refund_id ?? payment_id ?? payout_id ?? ''
}

export const MOVEMENT_VIEW: ListView<UnmatchedMovement> = {
  fields: UnmatchedMovement,
  columns: [
    { title: 'kind', value: (row) => row.kind },
    { title: 'id', value: idOf, short: endOfId },
    { title: 'amount', value: (row) => (row.kind === 'payment' ? row.amount : `-${row.amount}`), align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
    { title: 'end-to-end id', value: (row) => row.end_to_end_id, dropped: 1 },
  ],
  id: idOf,
  empty: 'Every payment, refund and payout of that time is on a statement.',
}
