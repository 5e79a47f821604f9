import { AdminDisputeSummary, DisputeSummary } from '../../src/wire/disputes.ts'
import type { Context } from '../kit/context.ts'
import type { Style } from '../base/io.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { distanceOf, roughly } from '../base/times.ts'
import { whoseColumns } from '../merchants/whose.ts'
import type { Owned } from '../merchants/whose.ts'
import { isResolved, shortStatus } from './view.ts'
import type { ListedDispute } from './view.ts'

export type DisputeList = { items: readonly ListedDispute[]; nextCursor: string | null; isForOperators: boolean }

/** How a status looks: an end in green, one that costs the merchant in red, what is open in yellow. */
function disputeStyle(status: string): Style {
  if (status === 'RESOLVED_MERCHANT_FAVOUR') return 'green'
  if (status === 'RESOLVED_PAYER_FAVOUR') return 'red'
  return status === 'ESCALATED' ? 'magenta' : 'yellow'
}

/** Disputes as a table; operators see whose they are as well. */
export function printDisputes({ print, note }: Context, { items, nextCursor, isForOperators }: DisputeList): void {
  print.list<ListedDispute>({
    items,
    fields: Object.keys((isForOperators ? AdminDisputeSummary : DisputeSummary).shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: disputeStyle, short: shortStatus },
      ...(isForOperators ? whoseColumns(ownerOf) : []),
      { title: 'reason', value: (row) => row.reason, least: 12 },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'payment', value: (row) => row.payment_id, short: endOfId, dropped: 3 },
      { title: 'due', value: dueOf, short: roughly, dropped: 4, least: 12 },
      { title: 'opened by', value: (row) => row.opened_by, dropped: 2 },
      { title: 'opened', value: (row) => shortTime(row.opened_at), short: dayOf, dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There are no such disputes.',
  })
  if (nextCursor !== null) note(`There are more: --cursor ${nextCursor}, or --all`)
}

function ownerOf(row: ListedDispute): Owned | undefined {
  return 'trading_name' in row ? row : undefined
}

/** How long the merchant still has, while anybody waits for it. */
function dueOf(row: ListedDispute): string {
  if (row.status !== 'OPEN') return row.evidence_missing && !isResolved(row) ? 'missed' : ''
  return distanceOf(row.evidence_due_at)
}
