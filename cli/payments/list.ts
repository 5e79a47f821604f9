import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { AdminPaymentSummary, listAdminPayments } from '../../src/wire/console.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { PaymentStatus, PaymentSummary, listPayments } from '../../src/wire/payments.ts'
import { Transaction, listTransactions } from '../../src/wire/transactions.ts'
import { dayOf, endOfId, minuteOf, shortTime } from '../base/text.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import type { CommandInput, CommandResult, Context, InputOf } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { Paging, TimeRange, rangeOf, withTimeRange } from '../kit/paging.ts'
import { findMerchant } from '../merchants/find.ts'
import { MerchantScope, ofMerchants, whoseColumns } from '../merchants/whose.ts'
import type { Column } from '../output/table.ts'
import { isRefunded, statusStyle } from './view.ts'

/** The filters of lists and exports, and whose payments an operator means. */
export function filtered(command: Command): Command {
  command
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'Filter by status').choices(PaymentStatus.options))
  withTimeRange(command, 'Created')
    .option('--currency <code>', 'Filter by currency')
    .option('--min-amount <amount>', 'Minimum gross amount')
    .option('--max-amount <amount>', 'Maximum gross amount')
    .option('--end-to-end-id <id>', 'Filter by end-to-end id')
    .option('--bank-id <id>', "Filter by the payer's bank")
  return ofMerchants(command)
}

const text = z.string().optional()

const FilterOptions = TimeRange.extend({
  ...MerchantScope.shape,
  status: PaymentStatus.optional(),
  currency: text,
  minAmount: text,
  maxAmount: text,
  endToEndId: text,
  bankId: text,
})

type Filter = Omit<NonNullable<OperationInput<typeof listPayments>['query']>, 'limit' | 'cursor'>

/** @throws {CliError} for a time that is none */
function filterOf(options: z.infer<typeof FilterOptions>): Filter {
  const given = {
    status: options.status,
    ...rangeOf(options),
    currency: options.currency?.toUpperCase(),
    min_amount: options.minAmount,
    max_amount: options.maxAmount,
    end_to_end_id: options.endToEndId,
    bank_id: options.bankId,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The same for an operator; undefined where a merchant means its own. */
async function adminFilterOf(
  client: Client,
  options: z.infer<typeof FilterOptions>,
): Promise<(Filter & { merchant_id?: string }) | undefined> {
  const { merchant, allMerchants } = options
  const filter = filterOf(options)
  if (!(await meansAllMerchants(client, allMerchants || merchant !== undefined))) return undefined
  return merchant === undefined
    ? filter
    : { ...filter, merchant_id: (await findMerchant(client, [merchant])).merchant.id }
}

export const ListOptions = Paging.extend({ ...FilterOptions.shape, fees: z.boolean().default(false) })
type ListOptions = z.infer<typeof ListOptions>

/** Rows of one kind, and how they are shown. */
type Shown<Row extends { payment_id: string }> = {
  read: PageReader<Row>
  fields: readonly string[]
  columns(rows: readonly Row[]): Column<Row>[]
}

export async function list(context: Context, { options }: CommandInput<ListOptions>): Promise<CommandResult> {
  const client = context.client()
  const ofMerchants = await adminFilterOf(client, options)
  if (ofMerchants !== undefined) return print(context, options, ofAll(client, ofMerchants, options.fees))
  const filter = filterOf(options)
  return options.fees ? print(context, options, lines(client, filter)) : print(context, options, own(client, filter))
}

async function print<Row extends { payment_id: string }>(
  context: Context,
  options: ListOptions,
  { read, fields, columns }: Shown<Row>,
): Promise<CommandResult> {
  const { items, nextCursor } = await collectPages(options, read)
  context.print.list({
    items,
    fields,
    columns: columns(items),
    // It carries the signature that lets its holder act as the payer.
    notInCsv: ['redirect_url'],
    id: (row) => row.payment_id,
    empty: 'There are no such payments.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

function own(client: Client, filter: Filter): Shown<PaymentSummary> {
  return {
    read: async (page) => (await call(client, listPayments, { query: { ...page, ...filter } })).body,
    fields: Object.keys(PaymentSummary.shape),
    columns: (rows) => [
      ...FIRST,
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      ...(rows.some(isRefunded) ? [REFUNDED] : []),
      CURRENCY,
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'failure', value: (row) => row.failure?.code ?? '', least: 8 },
    ],
  }
}

/** With what each cost, and what it adds to payouts. */
function lines(client: Client, filter: Filter): Shown<Transaction> {
  return {
    read: async (page) => (await call(client, listTransactions, { query: { ...filter, ...page } })).body,
    fields: Object.keys(Transaction.shape),
    columns: () => [
      ...FIRST,
      ...FEES,
      { title: 'refunded', value: (row) => row.refunded_amount, align: 'right', dropped: 4 },
      { title: 'payout', value: (row) => row.payout_amount, align: 'right' },
      CURRENCY,
      { title: 'created', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
      { title: 'settled', value: (row) => shortTime(row.settled_at), short: dayOf, dropped: 3 },
      { title: 'reference', value: (row) => row.remittance_reference ?? '', dropped: 1, least: 12 },
    ],
  }
}

function ofAll(client: Client, filter: Filter, fees: boolean): Shown<AdminPaymentSummary> {
  return {
    read: async (page) => (await call(client, listAdminPayments, { query: { ...page, ...filter } })).body,
    fields: Object.keys(AdminPaymentSummary.shape),
    columns: (rows) => [
      ID,
      ...whoseColumns((row: AdminPaymentSummary) => row),
      STATUS,
      ...(fees ? FEES : [{ title: 'amount', value: amountOf, align: 'right' as const }]),
      ...(fees && rows.some(isRefunded) ? [REFUNDED] : []),
      CURRENCY,
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'failure', value: (row) => row.failure?.code ?? '', below: true },
    ],
  }
}

type Money = Pick<Transaction, 'payment_id' | 'status' | 'gross_amount' | 'fee_amount' | 'net_amount' | 'currency'>

const amountOf = (row: Money): string => row.gross_amount
const ID: Column<Money> = { title: 'id', value: (row) => row.payment_id, short: endOfId }
const STATUS: Column<Money> = { title: 'status', value: (row) => row.status, style: statusStyle }
const FIRST = [ID, STATUS]
const CURRENCY: Column<Money> = { title: 'cur', value: (row) => row.currency }
const FEES: readonly Column<Money>[] = [
  { title: 'gross', value: amountOf, align: 'right' },
  { title: 'fee', value: (row) => row.fee_amount, align: 'right' },
  { title: 'net', value: (row) => row.net_amount, align: 'right' },
]
const REFUNDED: Column<Pick<PaymentSummary, 'refunded_amount'>> = {
  title: 'refunded',
  value: (row) => (isRefunded(row) ? row.refunded_amount : ''),
  align: 'right',
}

export const ExportOptions = FilterOptions.extend(ExportTarget.shape)

/** `svc payments export`: every payment page by page, a merchant's own as the lines of its books. */
export async function exportAll(context: Context, { options }: InputOf<typeof ExportOptions>): Promise<CommandResult> {
  const ofMerchants = await adminFilterOf(context.client(), options)
  if (ofMerchants === undefined) {
    const filter = filterOf(options)
    await exportPages(context, options, {
      columns: Object.keys(Transaction.shape),
      noun: 'payment',
      instead: 'svc payments list --fees --all',
      read: async (client, page) => (await call(client, listTransactions, { query: { ...filter, ...page } })).body,
    })
    return undefined
  }
  await exportPages(context, options, {
    // That address carries the signature that lets its holder act as the payer.
    columns: Object.keys(AdminPaymentSummary.shape).filter((member) => member !== 'redirect_url'),
    noun: 'payment',
    instead: 'svc payments list --all-merchants --all',
    read: async (client, page) => (await call(client, listAdminPayments, { query: { ...ofMerchants, ...page } })).body,
  })
}
