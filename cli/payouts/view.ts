import { AdminPayout, Payout } from '../../src/wire/payouts.ts'
import type { PayoutWithEvents } from '../../src/wire/payouts.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import type { Context } from '../kit/context.ts'
import { ownerColumns, ownerLines } from '../merchants/whose.ts'
import type { ListView } from '../output/output.ts'
import type { Column } from '../output/table.ts'
import { stylesOf } from '../output/table.ts'

export function payoutView(isOfAll: boolean): ListView<Payout> {
  return {
    fields: isOfAll ? AdminPayout : Payout,
    columns: payoutColumns(isOfAll),
    empty: 'There are no such payouts. svc balances shows what is owed, and what prevents a payout.',
  }
}

export function payoutColumns(isOfAll: boolean): readonly Column<Payout>[] {
  return [ID, ...(isOfAll ? ownerColumns : []), ...COLUMNS]
}

const statusStyle = stylesOf({ PAID: 'green', FAILED: 'red', RETURNED: 'red' }, undefined)

const ID: Column<Payout> = { title: 'id', value: (row) => row.payout_id, short: endOfId }
const COLUMNS: readonly Column<Payout>[] = [
  { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
  { title: 'amount', value: (row) => row.amount, align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'status', value: (row) => row.status, style: statusStyle },
  { title: 'failure', value: (row) => row.failure?.code ?? '', least: 8 },
  { title: 'account', value: (row) => row.bank_account_id, short: endOfId, dropped: 1 },
]

export function printPayout(context: Pick<Context, 'print'>, payout: Payout & Partial<PayoutWithEvents>): void {
  const { payout_id: id, failure, settlement_ids: settlements = [], status_history: history = [] } = payout
  context.print.record(payout, [
    ['Id', id],
    ...ownerLines(payout),
    ['Amount', `${payout.amount} ${payout.currency}`],
    ...(payout.debt_deducted === '0.00' ? [] : [['Debt deducted', payout.debt_deducted] as [string, string]]),
    ['Status', payout.status],
    ...(failure === null ? [] : [['Failure', `${failure.code}: ${failure.reason}`] as [string, string]]),
    ['Sent by', payout.connector],
    ['Bank account', payout.bank_account_id],
    ['End-to-end id', payout.end_to_end_id],
    ['Bank reference', payout.bank_reference ?? ''],
    ...(payout.retry_at === null ? [] : [['Next payout', shortTime(payout.retry_at)] as [string, string]]),
    ...settlements.map((settlement): [string, string] => ['Settlement', settlement]),
    ...history.map((each): [string, string] => [each.new_status, shortTime(each.created_at)]),
  ])
}
