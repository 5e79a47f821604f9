import type { ListedDispute } from '../../disputes/view.ts'
import { endOfId } from '../../base/text.ts'
import { listed } from './merchant-text.ts'
import { sumText } from '../../base/money-text.ts'

/** Which disputes, in a form's title. */
export function named(rows: readonly ListedDispute[]): string {
  const [row] = rows
  return rows.length === 1 && row !== undefined
    ? `the dispute of ${row.gross_amount} ${row.currency}`
    : `${rows.length} disputes`
}

/** Each of them in a line. */
export function aboutOf(rows: readonly ListedDispute[]): string[] {
  return listed(rows, (row) => `${endOfId(row.id)}  ${row.reason}  ${row.gross_amount} ${row.currency}  ${row.status}`)
}

/** What moves with it: as much of each as is left. */
export function refundText(rows: readonly ListedDispute[], isRefund: boolean): string {
  if (!isRefund) return '; no money moves'
  const left = sumText(rows.map((row) => [row.refundable_amount, row.currency]))
  return `, and refunds what is left: ${left} to the payer${rows.length === 1 ? '' : 's'}`
}

/** What is agreed to about a dispute. */
export function facts({ status, refundable_amount: left, currency }: ListedDispute): string {
  return `${status}, ${left} ${currency} left to refund`
}
