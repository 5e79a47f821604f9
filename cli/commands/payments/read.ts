import { z } from 'zod'
import {
  PaymentEvent,
  PaymentStatus,
  PaymentSummary,
  cancelPayment,
  getPayment,
  listPaymentEvents,
  listPayments,
} from '../../../src/wire/payments.ts'
import type { OperationInput } from '../../../src/wire/operation.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { usageError } from '../../errors.ts'
import { resolveId } from '../../resolve-id.ts'
import { endOfId, shortTime } from '../../text.ts'
import { parseTime } from '../../times.ts'
import { printPayment, statusStyle } from './view.ts'

const text = z.string().optional()

export const ListOptions = z.object({
  status: PaymentStatus.optional(),
  from: text,
  to: text,
  currency: text,
  minAmount: text,
  maxAmount: text,
  endToEndId: text,
  bankId: text,
  limit: z.string().regex(/^([1-9]\d?|100)$/, 'must be a number from 1 to 100'),
  cursor: text,
  all: z.boolean().default(false),
})
export type ListOptions = z.infer<typeof ListOptions>

// A hundred thousand payments: beyond that an export is the right tool, not a list.
const PAGES_MAX = 1_000
const PAGE_SIZE_MAX = 100
// How far back a short id is looked for: the last thousand payments.
const PART_PAGES_MAX = 10

type Query = NonNullable<OperationInput<typeof listPayments>['query']>

export async function list(context: Context, { options }: CommandInput<ListOptions>): Promise<CommandResult> {
  const query = queryOf(options)
  const client = context.client()
  const { items, nextCursor } = await collectPages(client, query, options.all ? PAGES_MAX : 1)
  context.print.list({
    items,
    fields: Object.keys(PaymentSummary.shape),
    columns: [
      { title: 'id', value: (row) => row.payment_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: statusStyle },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'created', value: (row) => shortTime(row.created_at) },
      { title: 'failure', value: (row) => row.failure?.code ?? '', least: 16 },
    ],
    id: (row) => row.payment_id,
    empty: 'There are no such payments.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

function queryOf(options: ListOptions): Query {
  const optional = {
    cursor: options.cursor,
    status: options.status,
    from: options.from === undefined ? undefined : parseTime(options.from, '--from'),
    to: options.to === undefined ? undefined : parseTime(options.to, '--to'),
    currency: options.currency?.toUpperCase(),
    min_amount: options.minAmount,
    max_amount: options.maxAmount,
    end_to_end_id: options.endToEndId,
    bank_id: options.bankId,
  }
  return {
    limit: options.all ? PAGE_SIZE_MAX : Number(options.limit),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  }
}

async function collectPages(
  client: Client,
  query: Query,
  pagesMax: number,
): Promise<{ items: PaymentSummary[]; nextCursor: string | null }> {
  const items: PaymentSummary[] = []
  let cursor = query.cursor ?? null
  for (let page = 0; page < pagesMax; page += 1) {
    const { body } = await call(client, listPayments, { query: { ...query, ...(cursor === null ? {} : { cursor }) } })
    items.push(...body.data)
    cursor = body.has_more ? body.next_cursor : null
    if (cursor === null) break
  }
  return { items, nextCursor: cursor }
}

/** The payment that the argument means (a whole id, or its beginning or end). */
export async function paymentId(client: Client, args: readonly string[]): Promise<string> {
  const [given] = args
  if (given === undefined) throw usageError('which payment? An id is missing', 'svc payments list')
  return resolveId(given, 'payment', () => newestIds(client))
}

async function* newestIds(client: Client): AsyncGenerator<string> {
  let cursor: string | null = null
  for (let page = 0; page < PART_PAGES_MAX; page += 1) {
    const query: Query = { limit: PAGE_SIZE_MAX, ...(cursor === null ? {} : { cursor }) }
    const { body } = await call(client, listPayments, { query })
    for (const payment of body.data) yield payment.payment_id
    if (!body.has_more) return
    cursor = body.next_cursor
  }
}

export async function get(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, getPayment, { params: { id: await paymentId(client, args) } })
  printPayment(context, body)
  return undefined
}

export async function events(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, listPaymentEvents, { params: { id: await paymentId(client, args) } })
  context.print.list({
    items: body.data,
    fields: Object.keys(PaymentEvent.shape),
    columns: [
      { title: 'ordinal', value: (row) => row.ordinal, align: 'right' },
      { title: 'time', value: (row) => row.created_at },
      { title: 'from', value: (row) => row.previous_status ?? '-' },
      { title: 'to', value: (row) => row.new_status, style: statusStyle },
      { title: 'by', value: (row) => row.changed_by },
      { title: 'event hash', value: (row) => row.event_hash.slice(0, 16) },
    ],
    id: (row) => row.id,
    empty: 'There are no events.',
  })
  return undefined
}

export async function cancel(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, cancelPayment, { params: { id: await paymentId(client, args) } })
  printPayment(context, body)
  return undefined
}
