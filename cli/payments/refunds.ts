import { RefundRow, listRefunds } from '../../src/wire/refunds.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import type { Style } from '../base/io.ts'
import { collectPages } from '../client/pages.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { paymentId } from './find.ts'
import type { Paging } from '../kit/paging.ts'

/** `svc payments refunds`: each refund of a payment, and what became of it. */
export async function refunds(context: Context, { args, options }: CommandInput<Paging>): Promise<CommandResult> {
  const client = context.client()
  const params = { id: await paymentId(client, args) }
  const { items, nextCursor } = await collectPages(options, async (query) => {
    return (await call(client, listRefunds, { params, query })).body
  })
  context.print.list({
    items,
    fields: Object.keys(RefundRow.shape),
    columns: [
      { title: 'id', value: (row) => row.refund_id, short: endOfId },
      { title: 'status', value: (row) => row.refund_status, style: refundStyle },
      { title: 'amount', value: (row) => row.amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'asked', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'bank reference', value: (row) => row.bank_reference ?? '', dropped: 1, least: 14 },
      { title: 'reason', value: (row) => row.reason ?? '', dropped: 2, least: 12 },
      { title: 'failure', value: (row) => row.failure?.code ?? '', least: 16 },
    ],
    id: (row) => row.refund_id,
    empty: 'Nothing of this payment was refunded.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

/** How a refund's status looks. */
export function refundStyle(status: string): Style {
  if (status === 'EXECUTED') return 'green'
  return status === 'FAILED' ? 'red' : 'yellow'
}
