import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../../src/lib/account-identification.ts'
import {
  Account,
  AccountTransaction,
  AccountBalance,
  getBalance,
  listAccountTransactions,
} from '../../src/wire/accounts.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import { command, grouped } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { timeRange, rangeOf } from '../kit/paging.ts'
import { accountReader, allAccounts, findAccount, numberText } from './named-account.ts'
import { OB_PAGING } from './pages.ts'
import type { ObReader } from './pages.ts'
import { printList, printPages, printRecord, signed } from './print.ts'

const ACCOUNT = 'Account number, IBAN, id, or the last 8 characters of the id'

export const accounts = command({
  command: 'ob accounts',
  summary: "List the customer's accounts",
  examples: ['svc ob accounts', 'svc ob accounts -q [0].AccountId', 'svc ob accounts -o csv'],
  flags: OB_PAGING,
  async run(context, input) {
    await printPages(context, input, accountReader(context.client()), {
      fields: Account,
      columns: [
        { title: 'id', value: (row) => row.AccountId, short: endOfId },
        { title: 'account', value: numberOf },
        { title: 'iban', value: (row) => namedBy(row, IBAN), dropped: 2 },
        { title: 'cur', value: (row) => row.Currency },
        { title: 'kind', value: (row) => `${row.AccountType} ${row.AccountSubType}`, dropped: 1 },
        { title: 'status', value: (row) => row.Status, style: (text) => (text === 'Enabled' ? 'green' : 'red') },
        { title: 'nickname', value: (row) => row.Nickname ?? '', least: 12 },
      ],
      id: (row) => row.AccountId,
      empty: 'There are no accounts.',
      csv: { without: 'Account', more: NUMBERS },
    })
  },
})

/** By what an account is paid: a column for each scheme. */
const NUMBERS = {
  SortCodeAccountNumber: (row: Account) => namedBy(row, SORT_CODE_ACCOUNT_NUMBER),
  IBAN: (row: Account) => namedBy(row, IBAN),
}

function namedBy({ Account: names }: Account, scheme: string): string {
  return names.find(({ SchemeName }) => SchemeName === scheme)?.Identification ?? ''
}

function numberOf(account: Account): string {
  return numberText(namedBy(account, SORT_CODE_ACCOUNT_NUMBER) || namedBy(account, IBAN))
}

export const balances = command({
  command: 'ob balances',
  summary: 'Show account balances',
  examples: ['svc ob balances', 'svc ob balances 12345678'],
  flags: { account: { value: 'account', summary: ACCOUNT, positional: true } },
  async run(context, input) {
    const client = context.client()
    const { account: text } = input
    const of = text === undefined ? await allAccounts(client) : [await findAccount(client, text)]
    const rows: AccountBalance[] = []
    for (const { AccountId } of of) rows.push((await call(client, getBalance, { params: { AccountId } })).body.Data)
    const [only] = rows
    if (text !== undefined && only !== undefined) return oneBalance(context, only, of)
    printList(context, rows, {
      fields: AccountBalance,
      columns: [
        { title: 'id', value: (row) => row.AccountId, short: endOfId },
        { title: 'account', value: (row) => numberFor(row, of) },
        { title: 'balance', value: balanceText, align: 'right', style: redBelowZero },
        { title: 'cur', value: (row) => row.BalanceAmount.Currency },
      ],
      empty: 'There are no accounts.',
    })
  },
})

function oneBalance(context: Context, balance: AccountBalance, of: readonly Account[]): CommandResult {
  printRecord(context, balance, [
    ['Id', balance.AccountId],
    ['Account', numberFor(balance, of)],
    ['AccountBalance', `${balanceText(balance)} ${balance.BalanceAmount.Currency}`],
  ])
}

function numberFor({ AccountId }: AccountBalance, of: readonly Account[]): string {
  const account = of.find((each) => each.AccountId === AccountId)
  return account === undefined ? '' : numberOf(account)
}

function balanceText({ BalanceAmount, CreditDebitIndicator }: AccountBalance): string {
  return signed(BalanceAmount, CreditDebitIndicator)
}

function redBelowZero(text: string): 'red' | undefined {
  return text.startsWith('-') ? 'red' : undefined
}

const BOOKED = timeRange('Booked')

/** `svc ob transactions [account]`: of the first account where none is named. */
export const transactions = command({
  command: 'ob transactions',
  summary: 'List transactions of an account, newest first',
  examples: [
    'svc ob transactions',
    'svc ob transactions a2b4358c --since 30d',
    'svc ob transactions --since 2026-11-01 --until 2026-12-01 --all -o csv',
  ],
  flags: {
    account: { value: 'account', summary: `${ACCOUNT} (the first account)`, positional: true },
    ...grouped('Filters:', {
      since: { ...BOOKED.since, member: 'fromBookingDateTime' },
      until: { ...BOOKED.until, member: 'toBookingDateTime' },
    }),
    ...OB_PAGING,
  },
  async run(context, input) {
    const { from, to } = rangeOf(input)
    const filter = { fromBookingDateTime: from, toBookingDateTime: to === undefined ? undefined : lastBefore(to) }
    const client = context.client()
    const account = await findAccount(client, input.account)
    const { AccountId } = account
    const read: ObReader<AccountTransaction> = async (page) =>
      (await call(client, listAccountTransactions, { params: { AccountId }, query: { ...filter, ...page } })).body
    if (input.account === undefined) context.note(`Account ${numberOf(account)}, ${account.Currency}`)
    await printPages(context, input, read, (items) => ({
      fields: AccountTransaction,
      columns: [
        { title: 'day', value: (row) => dayOf(shortTime(row.BookingDateTime)) },
        { title: 'description', value: (row) => row.TransactionInformation ?? '', least: 12 },
        { title: 'reference', value: (row) => row.TransactionReference ?? '', least: 10 },
        ...(items.some(({ Status }) => Status === 'Pending') ? [STATUS] : []),
        {
          title: 'amount',
          value: (row) => signed(row.Amount, row.CreditDebitIndicator),
          align: 'right',
          style: redBelowZero,
        },
        {
          title: 'balance',
          value: ({ Balance: after }) => signed(after.Amount, after.CreditDebitIndicator),
          align: 'right',
        },
        { title: 'cur', value: (row) => row.Amount.Currency, dropped: 1 },
      ],
      id: (row) => row.TransactionId,
      empty: 'There are no such transactions.',
      csv: { more: { SignedAmount: (row) => signed(row.Amount, row.CreditDebitIndicator) } },
    }))
  },
})

const STATUS = { title: 'status', value: (row: AccountTransaction) => row.Status }

/** The interface's end is part of the period, and its times have milliseconds. */
function lastBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString()
}
