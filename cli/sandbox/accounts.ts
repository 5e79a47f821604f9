import { z } from 'zod'
import {
  BookTotals,
  SandboxAccount,
  checkBooks,
  listSandboxAccounts,
  setSandboxAccount,
} from '../../src/wire/sandbox-bank.ts'
import { isUuid } from '../../src/lib/ids.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandResult, Context, InputOf } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { idOfMerchant } from './whose.ts'
import type { Style } from '../base/io.ts'
import { numberText, resolveAccount } from '../open-banking/named-account.ts'
import type { NamedAccount } from '../open-banking/named-account.ts'
import { collectPages, rowsOf } from '../client/pages.ts'
import { tableOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { endOfId, shortTime } from '../base/text.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend({ customer: z.string().optional(), merchant: z.string().optional() })

export const ACCOUNT_COLUMNS: readonly Column<SandboxAccount>[] = [
  { title: 'id', value: (row) => row.account_id, short: endOfId },
  { title: 'customer', value: (row) => row.customer_id, dropped: 3, least: 13 },
  { title: 'name', value: holderOf, short: withoutNickname, dropped: 2, least: 10 },
  { title: 'account', value: (row) => numberText(row.identifications[0]?.Identification ?? '') },
  { title: 'balance', value: (row) => row.balance, align: 'right' },
  { title: 'overdraft', value: (row) => row.overdraft_limit, align: 'right', dropped: 1 },
  { title: 'cur', value: (row) => row.currency },
  { title: 'status', value: (row) => row.status, style: statusStyle },
  { title: 'booked', value: (row) => String(row.transaction_count), align: 'right', dropped: 4 },
]

/** Whose account it is, and what that customer calls it. */
function holderOf({ name, nickname }: SandboxAccount): string {
  return nickname === null ? name : `${name} (${nickname})`
}

function withoutNickname(text: string): string {
  return text.replace(/ \(.*\)$/, '')
}

function statusStyle(status: string): Style {
  if (status === 'Enabled') return 'green'
  return status === 'Blocked' ? 'yellow' : 'red'
}

export async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const client = context.client()
  const { customer, merchant } = options
  const merchantId = merchant === undefined ? undefined : await idOfMerchant(client, merchant)
  const filter = {
    ...(customer === undefined ? {} : { customer_id: customer }),
    ...(merchantId === undefined ? {} : { merchant_id: merchantId }),
  }
  const { items, nextCursor } = await collectPages(
    options,
    async (page) => (await call(client, listSandboxAccounts, { query: { ...filter, ...page } })).body,
  )
  context.print.list({
    items,
    fields: Object.keys(SandboxAccount.shape),
    columns: ACCOUNT_COLUMNS,
    id: (row) => row.account_id,
    empty: 'There are no such accounts.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

export const SetOptions = ChangeOptions.extend({
  status: z.enum(['enabled', 'blocked', 'closed']).optional(),
  overdraft: z.string().optional(),
})

const STATUS = { enabled: 'Enabled', blocked: 'Blocked', closed: 'Closed' } as const

/** `svc sandbox account set`: the bank blocks an account, closes it, opens it again, or lets it be overdrawn further. */
export async function set(context: Context, { args, options }: InputOf<typeof SetOptions>): Promise<CommandResult> {
  const { status, overdraft } = options
  if (status === undefined && overdraft === undefined)
    throw usageError('there is nothing to set', '--status blocked, or --overdraft 250.00')
  const body = {
    ...(status === undefined ? {} : { status: STATUS[status] }),
    ...(overdraft === undefined ? {} : { overdraft_limit: overdraft }),
  }
  const client = context.client()
  const input = { params: { id: await meant(client, args[0] ?? '') }, body }
  const account = await change(context, client, setSandboxAccount, { input, options })
  if (account !== undefined) printAccount(context, account)
}

// How many accounts are looked through for a number, or a part of an id: two thousand.
const PAGES_MAX = 20

async function meant(client: Client, text: string): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  const accounts: NamedAccount[] = []
  const rows = rowsOf(async (query) => (await call(client, listSandboxAccounts, { query })).body, PAGES_MAX)
  for await (const { account_id: id, identifications } of rows)
    accounts.push({ id, numbers: identifications.map(({ Identification }) => Identification) })
  return resolveAccount(text, 'account of the bank', accounts)
}

function printAccount(context: Context, account: SandboxAccount): void {
  context.print.record({
    item: account,
    id: account.account_id,
    lines: [
      ['Account', account.account_id],
      ['Customer', account.customer_id],
      ['Name', holderOf(account)],
      ...account.identifications.map(
        ({ SchemeName, Identification }) => [SchemeName, numberText(Identification)] as const,
      ),
      ['Balance', `${account.balance} ${account.currency}`],
      ['Overdraft', `${account.overdraft_limit} ${account.currency}`],
      ['Status', account.status],
    ],
  })
}

const BOOK_COLUMNS: readonly Column<BookTotals>[] = [
  { title: 'cur', value: (row) => row.currency },
  { title: 'accounts', value: (row) => String(row.accounts), align: 'right', dropped: 2 },
  { title: 'transfers', value: (row) => String(row.transfers), align: 'right', dropped: 1 },
  { title: 'came in', value: (row) => row.came_in, align: 'right' },
  { title: 'went out', value: (row) => row.went_out, align: 'right' },
  { title: 'balance', value: (row) => row.balance, align: 'right' },
  { title: 'difference', value: (row) => row.difference, align: 'right', style: zeroStyle },
  { title: 'wrong', value: (row) => String(row.wrong_accounts), align: 'right', style: zeroStyle },
]

function zeroStyle(text: string): Style {
  return /^[0.]+$/.test(text) ? 'green' : 'red'
}

/** `svc sandbox books`: exit code 3 where money was made or lost. CSV has a line for each currency. */
export async function books(context: Context): Promise<CommandResult> {
  const { body } = await call(context.client(), checkBooks, {})
  const { print } = context
  const rows = { items: body.totals, columns: BOOK_COLUMNS, id: (row: BookTotals) => row.currency }
  if (print.mode === 'csv') print.list({ ...rows, fields: Object.keys(BookTotals.shape), empty: '' })
  else {
    const table = tableOf(rows.items, rows.columns, { header: true, paint: print.paint, width: print.width })
    const verdict = body.is_balanced ? 'yes: no money was made and none was lost' : 'NO: money was made or lost'
    print.record({
      item: body,
      id: body.checked_at,
      lines: [
        ['Checked', shortTime(body.checked_at)],
        ['Balanced', verdict],
      ],
      ...(body.totals.length === 0 ? {} : { after: table.join('\n') }),
    })
  }
  return body.is_balanced ? EXIT.ok : EXIT.assertion
}
