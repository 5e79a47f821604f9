import type { Balance, MerchantBalance } from '../../src/wire/ledger.ts'
import type { Difference } from '../../src/wire/reconciliation.ts'
import { endOfId } from '../base/text.ts'
import { ownerColumns } from '../merchants/whose.ts'
import type { Column } from '../output/table.ts'

const align = 'right'
const ACCOUNTS: readonly Column<Omit<Balance, 'fees_paid' | 'payout_blocked_by'>>[] = [
  { title: 'cur', value: (row) => row.currency },
  { title: 'clearing', value: (row) => row.clearing, align },
  { title: 'payable', value: (row) => row.merchant_payable, align },
  { title: 'held', value: (row) => row.held, align, dropped: 1 },
  { title: 'in transit', value: (row) => row.payouts_in_transit, align },
  { title: 'total', value: (row) => row.total, align },
]

export const BALANCE_COLUMNS: readonly Column<Balance>[] = [
  ...ACCOUNTS,
  { title: 'fees paid', value: (row) => row.fees_paid, align },
]
export const MERCHANT_BALANCE_COLUMNS: readonly Column<MerchantBalance>[] = [
  ...ownerColumns,
  ...ACCOUNTS,
  { title: 'bank', value: (row) => row.bank, align, dropped: 4 },
  { title: 'fees', value: (row) => row.fees_earned, align, dropped: 3 },
  { title: 'rounding', value: (row) => row.rounding, align, dropped: 2 },
]

export function totalsText(
  row: Pick<MerchantBalance, 'currency' | 'bank' | 'total' | 'fees_earned' | 'rounding'>,
): string {
  return `${row.currency}: bank ${row.bank}, owed ${row.total}, fees ${row.fees_earned}, rounding ${row.rounding}`
}

export const DIFFERENCE_COLUMNS: readonly Column<Difference>[] = [
  { title: 'difference', value: (row) => row.kind },
  { title: 'merchant', value: (row) => row.trading_name ?? '-', least: 8 },
  { title: 'row', value: (row) => row.subject, short: endOfId },
  { title: 'expected', value: (row) => row.expected_amount ?? 'none', align: 'right' },
  { title: 'found', value: (row) => row.found_amount ?? 'none', align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'cause', value: (row) => row.cause, below: true },
]
