import type { z } from 'zod'
import { PaymentSummary, getPayment, listPayments } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { collectPages } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import type { Column } from '../output/table.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { ownPaymentId } from './find.ts'
import { FilterOptions, filterOf } from './filters.ts'
import type { Filter } from './filters.ts'
import { printPayment, statusStyle } from './view.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend(FilterOptions.shape)
export type ListOptions = z.infer<typeof ListOptions>

export async function list(context: Context, { options }: CommandInput<ListOptions>): Promise<CommandResult> {
  const filter = filterOf(options)
  const { items, nextCursor } = await collectPages(options, reader(context.client(), filter))
  context.print.list({
    items,
    fields: Object.keys(PaymentSummary.shape),
    columns: [
      { title: 'id', value: (row) => row.payment_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: statusStyle },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      ...(items.some(isRefunded) ? [REFUNDED] : []),
      { title: 'cur', value: (row) => row.currency },
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'failure', value: (row) => row.failure?.code ?? '', least: 8 },
    ],
    // It carries the signature that lets its holder act as the payer.
    notInCsv: ['redirect_url'],
    id: (row) => row.payment_id,
    empty: 'There are no such payments.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

function isRefunded({ refunded_amount: amount }: PaymentSummary): boolean {
  return /[1-9]/.test(amount)
}

const REFUNDED: Column<PaymentSummary> = {
  title: 'refunded',
  value: (row) => (isRefunded(row) ? row.refunded_amount : ''),
  align: 'right',
}

function reader(client: Client, filter: Filter): PageReader<PaymentSummary> {
  return async (page) => (await call(client, listPayments, { query: { ...page, ...filter } })).body
}

/** The payment that the argument means (a whole id, or its beginning or end). */
export async function paymentId(client: Client, args: readonly string[]): Promise<string> {
  const [given] = args
  if (given === undefined) throw usageError('which payment? An id is missing', 'svc payments list')
  return ownPaymentId(client, given)
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, getPayment, { params: { id: await paymentId(client, args) } })
  printPayment(context, body)
  return undefined
}
