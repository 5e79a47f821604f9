import type { z } from 'zod'
import { Transaction, listTransactions } from '../../src/wire/transactions.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { collectPages } from '../client/pages.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { FilterOptions, filterOf } from './filters.ts'
import { statusStyle } from './view.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend(FilterOptions.shape)

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const filter = filterOf(options)
  const client = context.client()
  const { items, nextCursor } = await collectPages(
    options,
    async (page) => (await call(client, listTransactions, { query: { ...filter, ...page } })).body,
  )
  context.print.list({
    items,
    fields: Object.keys(Transaction.shape),
    columns: [
      { title: 'id', value: (row) => row.payment_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: statusStyle },
      { title: 'gross', value: (row) => row.gross_amount, align: 'right' },
      { title: 'fee', value: (row) => row.fee_amount, align: 'right' },
      { title: 'net', value: (row) => row.net_amount, align: 'right' },
      { title: 'refunded', value: (row) => row.refunded_amount, align: 'right', dropped: 4 },
      { title: 'payout', value: (row) => row.payout_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'created', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
      { title: 'settled', value: (row) => shortTime(row.settled_at), short: dayOf, dropped: 3 },
      { title: 'reference', value: (row) => row.remittance_reference ?? '', dropped: 1, least: 12 },
    ],
    id: (row) => row.payment_id,
    empty: 'There are no such payments.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}
