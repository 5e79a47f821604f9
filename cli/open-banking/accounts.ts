import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../../src/lib/account-identification.ts'
import { Account, AccountTransaction, Balance, getBalance, listAccountTransactions } from '../../src/wire/accounts.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context, InputOf } from '../kit/context.ts'
import { TimeRange, rangeOf } from '../kit/paging.ts'
import { accountReader, allAccounts, findAccount, numberText } from './named-account.ts'
import { ObPaging, collect, emptyText, tellMore } from './pages.ts'
import { printList, printRecord, signed } from './print.ts'

export async function accounts(context: Context, { options }: CommandInput<ObPaging>): Promise<CommandResult> {
  const { items, ...page } = await collect(options, ({ AccountId }) => AccountId, accountReader(context.client()))
  printList(context, {
    items,
    schema: Account,
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
    empty: emptyText('There are no accounts.', page),
    csv: { without: 'Account', more: NUMBERS },
  })
  tellMore(context, page)
}

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

export async function balances(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const [text] = args
  const of = text === undefined ? await allAccounts(client) : [await findAccount(client, text)]
  const rows: Balance[] = []
  for (const { AccountId } of of) rows.push((await call(client, getBalance, { params: { AccountId } })).body.Data)
  const [only] = rows
  if (text !== undefined && only !== undefined) return oneBalance(context, only, of)
  printList(context, {
    items: rows,
    schema: Balance,
    columns: [
      { title: 'id', value: (row) => row.AccountId, short: endOfId },
      { title: 'account', value: (row) => numberFor(row, of) },
      { title: 'balance', value: balanceText, align: 'right', style: redBelowZero },
      { title: 'cur', value: (row) => row.BalanceAmount.Currency },
    ],
    id: (row) => row.AccountId,
    empty: 'There are no accounts.',
  })
}

function oneBalance(context: Context, balance: Balance, of: readonly Account[]): CommandResult {
  printRecord(context, {
    item: balance,
    id: balance.AccountId,
    lines: [
      ['Id', balance.AccountId],
      ['Account', numberFor(balance, of)],
      ['Balance', `${balanceText(balance)} ${balance.BalanceAmount.Currency}`],
    ],
  })
}

function numberFor({ AccountId }: Balance, of: readonly Account[]): string {
  const account = of.find((each) => each.AccountId === AccountId)
  return account === undefined ? '' : numberOf(account)
}

function balanceText({ BalanceAmount, CreditDebitIndicator }: Balance): string {
  return signed(BalanceAmount, CreditDebitIndicator)
}

function redBelowZero(text: string): 'red' | undefined {
  return text.startsWith('-') ? 'red' : undefined
}

export const TransactionsOptions = ObPaging.extend(TimeRange.shape)

/** `svc ob transactions [account]`: of the first account where none is named. */
export async function transactions(
  context: Context,
  { args, options }: InputOf<typeof TransactionsOptions>,
): Promise<CommandResult> {
  const { from, to } = rangeOf(options)
  const filter = { fromBookingDateTime: from, toBookingDateTime: to === undefined ? undefined : lastBefore(to) }
  const client = context.client()
  const account = await findAccount(client, args[0])
  const { AccountId } = account
  const { items, ...page } = await collect(
    options,
    (row: AccountTransaction) => row.TransactionId,
    async (page) =>
      (await call(client, listAccountTransactions, { params: { AccountId }, query: { ...filter, ...page } })).body,
  )
  if (args[0] === undefined) context.note(`Account ${numberOf(account)}, ${account.Currency}`)
  printList(context, {
    items,
    schema: AccountTransaction,
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
    empty: emptyText('There are no such transactions.', page),
    csv: { more: { SignedAmount: (row) => signed(row.Amount, row.CreditDebitIndicator) } },
  })
  tellMore(context, page)
}

const STATUS = { title: 'status', value: (row: AccountTransaction) => row.Status }

/** The interface's end is part of the period, and its times have milliseconds. */
function lastBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString()
}
