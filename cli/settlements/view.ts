import { AdminSettlement, Settlement, SettlementLine } from '../../src/wire/settlements.ts'
import type { MerchantSettlementSchedule } from '../../src/wire/settlements.ts'
import { dayOf, endOfId, minuteOf, shortTime } from '../base/text.ts'
import type { Context } from '../kit/context.ts'
import { ownerColumns, ownerLines } from '../merchants/whose.ts'
import type { ListView } from '../output/output.ts'
import type { Column } from '../output/table.ts'

export function settlementView(isOfAll: boolean): ListView<Settlement> {
  return {
    fields: isOfAll ? AdminSettlement : Settlement,
    columns: settlementColumns(isOfAll),
    empty: 'There are no such settlements.',
  }
}

export function settlementColumns(isOfAll: boolean): readonly Column<Settlement>[] {
  return [ID, ...(isOfAll ? ownerColumns : []), ...COLUMNS]
}

const ID: Column<Settlement> = { title: 'id', value: (row) => row.settlement_id, short: endOfId }
const COLUMNS: readonly Column<Settlement>[] = [
  { title: 'period until', value: (row) => shortTime(row.period_to), short: dayOf },
  { title: 'opening', value: (row) => row.opening_balance, align: 'right', dropped: 2 },
  { title: 'gross', value: (row) => row.gross_amount, align: 'right' },
  { title: 'fees', value: (row) => row.fee_amount, align: 'right', dropped: 3 },
  { title: 'refunded', value: (row) => row.refunded_amount, align: 'right', dropped: 4 },
  { title: 'net', value: (row) => row.net_amount, align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'status', value: (row) => row.status, style: (status) => (status === 'PAID_OUT' ? 'green' : undefined) },
  { title: 'lines', value: (row) => String(row.line_count), align: 'right', dropped: 1 },
]

export function printSettlement(context: Pick<Context, 'print'>, settlement: Settlement): void {
  const { settlement_id: id, currency, ...row } = settlement
  context.print.record(settlement, [
    ['Id', id],
    ...ownerLines(settlement),
    ['Period', `${shortTime(row.period_from)} until ${shortTime(row.period_to)} (${row.kind})`],
    ['Opening balance', `${row.opening_balance} ${currency}`],
    ['Gross', row.gross_amount],
    ['Fees', row.fee_amount],
    ['Refunded', row.refunded_amount],
    ...(row.corrected_amount === '0.00' ? [] : [['Corrected', row.corrected_amount] as [string, string]]),
    ...(row.deducted_amount === '0.00' ? [] : [['Debt deducted', row.deducted_amount] as [string, string]]),
    ['Rounding', row.rounding_amount],
    ['Net', row.net_amount],
    ['Payable', `${row.payable_amount} ${currency}`],
    ['Status', row.status],
    ['Payout', row.payout_id ?? ''],
    ['Bank account', row.bank_account_id ?? ''],
    ['Lines', String(row.line_count)],
  ])
}

export const LINE_COLUMNS: readonly Column<SettlementLine>[] = [
  { title: 'line', value: (row) => row.id },
  { title: 'kind', value: (row) => row.kind },
  { title: 'payment', value: (row) => row.payment_id ?? '', short: endOfId },
  { title: 'amount', value: (row) => row.amount, align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'posted', value: (row) => shortTime(row.occurred_at), short: minuteOf },
  { title: 'reference', value: (row) => row.remittance_reference ?? row.end_to_end_id ?? '', dropped: 1, least: 12 },
]

export const LINE_VIEW: ListView<SettlementLine> = {
  fields: SettlementLine,
  columns: LINE_COLUMNS,
  empty: 'There are no lines.',
}

export function printSchedule(context: Context, schedule: MerchantSettlementSchedule): void {
  context.print.record(schedule, [['Schedule', schedule.settlement_schedule]])
}
