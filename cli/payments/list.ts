import { AdminPaymentSummary, listAdminPayments } from '../../src/wire/console.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { PaymentStatus, PaymentSummary, listPayments } from '../../src/wire/payments.ts'
import { Transaction, listTransactions } from '../../src/wire/transactions.ts'
import { dayOf, endOfId, minuteOf, shortTime } from '../base/text.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import type { Flags } from '../kit/action.ts'
import { command, grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { EXPORT_TARGET, exportPages } from '../kit/export-pages.ts'
import { listPages, PAGING, pagesIn, timeRange, rangeOf } from '../kit/paging.ts'
import type { Paging } from '../kit/paging.ts'
import { bodyFrom } from '../kit/read-values.ts'
import { findMerchant } from '../merchants/find.ts'
import { OF_MERCHANTS, whoseColumns } from '../merchants/whose.ts'
import type { Column } from '../output/table.ts'
import { isRefunded, statusStyle } from './view.ts'

const OF_QUERY = grouped('Filters:', {
  status: { value: 'status', summary: 'Filter by status', choices: PaymentStatus.options },
  ...timeRange('Created'),
  currency: { value: 'code', summary: 'Filter by currency', read: (text: string) => text.toUpperCase() },
  minAmount: { value: 'amount', summary: 'Minimum gross amount' },
  maxAmount: { value: 'amount', summary: 'Maximum gross amount' },
  endToEndId: { value: 'id', summary: 'Filter by end-to-end id' },
  bankId: { value: 'id', summary: "Filter by the payer's bank" },
})
const FILTERS = { ...OF_QUERY, ...OF_MERCHANTS } as const satisfies Flags

type Filter = Omit<NonNullable<OperationInput<typeof listPayments>['query']>, 'limit' | 'cursor'>

/** @throws {CliError} for a time that is none */
function filterOf(options: Input<typeof FILTERS>): Filter {
  return { ...bodyFrom(OF_QUERY, options), ...rangeOf(options) }
}

/** The same for an operator; undefined where a merchant means its own. */
async function adminFilterOf(
  client: Client,
  options: Input<typeof FILTERS>,
): Promise<(Filter & { merchant_id?: string }) | undefined> {
  const { merchant, allMerchants } = options
  const filter = filterOf(options)
  if (!(await meansAllMerchants(client, allMerchants || merchant !== undefined))) return undefined
  return merchant === undefined
    ? filter
    : { ...filter, merchant_id: (await findMerchant(client, merchant)).merchant.id }
}

type ListSource<Row extends { payment_id: string }> = {
  read: PageReader<Row>
  fields: readonly string[]
  columns(rows: readonly Row[]): Column<Row>[]
}

export const list = command({
  command: 'payments list',
  summary: 'List payments, newest first',
  examples: [
    'svc payments list --status Settled --since 2h',
    'svc payments list --fees --since 24h',
    'svc payments list --merchant acme-ltd --status Failed',
    'svc payments list --all -o csv > payments.csv',
  ],
  flags: {
    ...FILTERS,
    ...PAGING,
    ...grouped('Output:', { fees: { summary: 'Show the fee of each payment and what it adds to payouts' } }),
  },
  async run(context, input) {
    const client = context.client()
    const ofMerchants = await adminFilterOf(client, input)
    if (ofMerchants !== undefined) return print(context, input, ofAll(client, ofMerchants, input.fees))
    const filter = filterOf(input)
    return input.fees ? print(context, input, lines(client, filter)) : print(context, input, own(client, filter))
  },
})

async function print<Row extends { payment_id: string }>(
  context: Context,
  options: Paging,
  { read, fields, columns }: ListSource<Row>,
): Promise<CommandResult> {
  await listPages(context, options, read, (items, empty = 'There are no such payments.') =>
    context.print.list(items, {
      fields,
      columns: columns(items),
      // It carries the signature that lets its holder act as the payer.
      notInCsv: ['redirect_url'],
      empty,
    }),
  )
}

function own(client: Client, filter: Filter): ListSource<PaymentSummary> {
  return {
    read: pagesIn(client, listPayments, { query: filter }),
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
function lines(client: Client, filter: Filter): ListSource<Transaction> {
  return {
    read: pagesIn(client, listTransactions, { query: filter }),
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

function ofAll(client: Client, filter: Filter, fees: boolean): ListSource<AdminPaymentSummary> {
  return {
    read: pagesIn(client, listAdminPayments, { query: filter }),
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

/** `svc payments export`: every payment page by page, a merchant's own as the lines of its books. */
export const exporting = command({
  command: 'payments export',
  summary: 'Export payments and fees as CSV or JSON',
  details: 'Fetches every page. CSV follows RFC 4180; -o json and -o jsonl are available as well.',
  examples: [
    'svc payments export > payments.csv',
    'svc payments export -o jsonl | jq .payout_amount',
    'svc payments export --file november.csv --since 2026-11-01 --until 2026-12-01',
    'svc payments export --all-merchants --file all.csv',
  ],
  flags: {
    ...FILTERS,
    ...grouped('Output:', { ...EXPORT_TARGET }),
  },
  async run(context, input) {
    const ofMerchants = await adminFilterOf(context.client(), input)
    if (ofMerchants === undefined) {
      const filter = filterOf(input)
      await exportPages(context, input, {
        columns: Object.keys(Transaction.shape),
        noun: 'payment',
        instead: 'svc payments list --fees --all',
        pages: (client) => pagesIn(client, listTransactions, { query: filter }),
      })
      return undefined
    }
    await exportPages(context, input, {
      // That address carries the signature that lets its holder act as the payer.
      columns: Object.keys(AdminPaymentSummary.shape).filter((member) => member !== 'redirect_url'),
      noun: 'payment',
      instead: 'svc payments list --all-merchants --all',
      pages: (client) => pagesIn(client, listAdminPayments, { query: ofMerchants }),
    })
  },
})
