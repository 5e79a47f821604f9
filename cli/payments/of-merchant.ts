import { AdminPaymentSummary, getAdminPayment, listAdminPayments } from '../../src/wire/console.ts'
import { z } from 'zod'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findMerchant } from '../merchants/find.ts'
import { collectPages, rowsOf } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { FilterOptions, filterOf } from './filters.ts'
import type { Filter } from './filters.ts'
import { printPayment, statusStyle } from './view.ts'
import { whoseColumns, whoseText } from '../merchants/whose.ts'
import { Paging } from '../kit/paging.ts'

export const PaymentsOptions = Paging.extend({ ...FilterOptions.shape, merchant: z.string().optional() })

// How far back a short id is looked for: the last thousand payments.
const PART_PAGES_MAX = 10

/** `svc merchants payments`: the payments of all merchants. */
export async function payments(
  context: Context,
  { options }: CommandInput<z.infer<typeof PaymentsOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { merchant } = options
  const filter = filterOf(options)
  const whose = merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }
  const { items, nextCursor } = await collectPages(options, reader(client, { ...filter, ...whose }))
  context.print.list({
    items,
    fields: Object.keys(AdminPaymentSummary.shape),
    columns: [
      { title: 'id', value: (row) => row.payment_id, short: endOfId },
      ...whoseColumns((row: AdminPaymentSummary) => row),
      { title: 'status', value: (row) => row.status, style: statusStyle },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'failure', value: (row) => row.failure?.code ?? '', below: true },
    ],
    id: (row) => row.payment_id,
    empty: 'There are no such payments.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

function reader(client: Client, filter: Filter & { merchant_id?: string }): PageReader<AdminPaymentSummary> {
  return async (page) => (await call(client, listAdminPayments, { query: { ...page, ...filter } })).body
}

/** `svc merchants payment`: one of them, with its history. */
export async function payment(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const [given] = args
  if (given === undefined) throw usageError('which payment? An id is missing', 'svc merchants payments')
  const id = await resolveId(given, "merchant's payment", () => newestIds(client))
  const { body } = await call(client, getAdminPayment, { params: { id } })
  printPayment(context, body, [['Merchant', whoseText(body)]])
  return undefined
}

async function* newestIds(client: Client): AsyncGenerator<string> {
  for await (const { payment_id } of rowsOf(reader(client, {}), PART_PAGES_MAX)) yield payment_id
}
