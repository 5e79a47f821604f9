import { isUuid } from '../../src/lib/ids.ts'
import {
  BookTotals,
  SandboxAccount,
  checkBooks,
  listSandboxAccounts,
  setSandboxAccount,
} from '../../src/wire/sandbox-bank.ts'
import { usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Style } from '../base/io.ts'
import { endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { pagesOf } from '../client/pages.ts'
import { CHANGING, change } from '../kit/change.ts'
import { command, grouped, argument } from '../kit/command.ts'
import { reading } from '../kit/reading.ts'
import type { Context } from '../kit/context.ts'
import { pagesIn } from '../kit/paging.ts'
import { numberText, resolveAccount } from '../open-banking/named-account.ts'
import type { NamedAccount } from '../open-banking/named-account.ts'
import { tableBelow, stylesOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { idOfMerchant } from './whose.ts'

const statusStyle = stylesOf({ Enabled: 'green', Blocked: 'yellow' }, 'red')

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

function holderOf({ name, nickname }: SandboxAccount): string {
  return nickname === null ? name : `${name} (${nickname})`
}

function withoutNickname(text: string): string {
  return text.replace(/ \(.*\)$/, '')
}

export const list = reading({
  command: 'sandbox accounts',
  summary: 'List bank accounts and their balances',
  examples: ['svc sandbox accounts --customer customer-demo', 'svc sandbox accounts --merchant demo -o csv'],
  flags: grouped('Filters:', {
    customer: { value: 'id', summary: 'Filter by customer, such as customer-demo' },
    merchant: { value: 'merchant', summary: 'Settlement accounts of a merchant: its id, realm or client id' },
  }),
  operation: listSandboxAccounts,
  request: async ({ customer, merchant }, client) => ({
    query: { customer_id: customer, merchant_id: merchant && (await idOfMerchant(client, merchant)) },
  }),
  view: { fields: SandboxAccount, columns: ACCOUNT_COLUMNS, empty: 'There are no such accounts.' },
})

const STATUS = { enabled: 'Enabled', blocked: 'Blocked', closed: 'Closed' } as const

export const set = command({
  command: 'sandbox account set',
  summary: 'Change the status or overdraft of a bank account',
  examples: [
    'svc sandbox account set a2b4358c --status blocked',
    'svc sandbox account set "00-00-75 12345678" --overdraft 250.00',
  ],
  flags: {
    account: argument('account', 'Account number, IBAN, id, or the last 8 characters of the id'),
    ...CHANGING,
    status: {
      value: 'status',
      summary: 'New status: enabled, blocked or closed',
      choices: ['enabled', 'blocked', 'closed'],
    },
    overdraft: { value: 'amount', summary: 'Overdraft limit', member: 'overdraft_limit' },
  },
  async run(context, input) {
    const { status, overdraft } = input
    if (status === undefined && overdraft === undefined)
      throw usageError('there is nothing to set', '--status blocked, or --overdraft 250.00')
    const body = {
      ...(status === undefined ? {} : { status: STATUS[status] }),
      ...(overdraft === undefined ? {} : { overdraft_limit: overdraft }),
    }
    const client = context.client()
    const params = { id: await meant(client, input.account) }
    const account = await change(context, client, setSandboxAccount, { input: { params, body }, options: input })
    if (account !== undefined) printAccount(context, account)
  },
})

// How many accounts are looked through for a number, or a part of an id: two thousand.
const PAGES_MAX = 20

async function meant(client: Client, text: string): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  const accounts: NamedAccount[] = []
  for await (const rows of pagesOf(pagesIn(client, listSandboxAccounts), PAGES_MAX))
    for (const { account_id: id, identifications } of rows)
      accounts.push({ id, numbers: identifications.map(({ Identification }) => Identification) })
  return resolveAccount(text, 'account of the bank', accounts)
}

function printAccount(context: Context, account: SandboxAccount): void {
  context.print.record(account, [
    ['Account', account.account_id],
    ['Customer', account.customer_id],
    ['Name', holderOf(account)],
    ...account.identifications.map(
      ({ SchemeName, Identification }) => [SchemeName, numberText(Identification)] as const,
    ),
    ['Balance', `${account.balance} ${account.currency}`],
    ['Overdraft', `${account.overdraft_limit} ${account.currency}`],
    ['Status', account.status],
  ])
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
export const books = command({
  command: 'sandbox books',
  summary: "Check that the bank's books balance",
  details: 'Exit code 3 if they do not balance.',
  examples: ['svc sandbox books', 'svc sandbox books -q is_balanced'],
  flags: {},
  async run(context) {
    const { body } = await call(context.client(), checkBooks, {})
    const { print } = context
    if (print.mode === 'csv') print.list(body.totals, { fields: BookTotals, columns: BOOK_COLUMNS })
    else {
      const verdict = body.is_balanced ? 'yes: no money was made and none was lost' : 'NO: money was made or lost'
      print.record(
        body,
        [
          ['Checked', shortTime(body.checked_at)],
          ['Balanced', verdict],
        ],
        { id: body.checked_at, after: tableBelow(print, body.totals, BOOK_COLUMNS) },
      )
    }
    return body.is_balanced ? EXIT.ok : EXIT.assertion
  },
})
