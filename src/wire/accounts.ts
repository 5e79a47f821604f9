import { z } from 'zod'
import { NoBody, None } from './common.ts'
import {
  AccountAnswer,
  AmountResponse,
  CreditDebit,
  InteractionHeaders,
  Links,
  Meta,
  Moment,
  Paging,
  pageOf,
} from './open-banking.ts'
import { operation } from './operation.ts'

const AccountParams = z.strictObject({ AccountId: z.string() })

/** An account of the caller (contract §AccountListResponse). */
export const Account = z.strictObject({
  AccountId: z.string(),
  Currency: z.string(),
  AccountType: z.enum(['Personal', 'Business']),
  AccountSubType: z.enum(['CurrentAccount', 'Savings', 'CreditCard']),
  Nickname: z.string().optional(),
  Status: z.enum(['Enabled', 'Blocked', 'Closed']),
  /** The identifier that others pay it by. */
  Account: z.array(AccountAnswer),
})
export type Account = z.infer<typeof Account>

export const AccountListResponse = pageOf(Account)

export const listAccounts = operation({
  name: 'listAccounts',
  method: 'GET',
  path: '/open-banking/v1/accounts',
  summary: "List the caller's accounts",
  access: ['customer'],
  scopes: ['accounts'],
  params: None,
  query: Paging,
  headers: InteractionHeaders,
  body: NoBody,
  replies: { 200: AccountListResponse },
  errors: [],
})

/** The balance of an account; an overdrawn one is a positive amount with `Debit` (decision 59). */
export const AccountBalance = z.strictObject({
  AccountId: z.string(),
  BalanceAmount: AmountResponse,
  CreditDebitIndicator: CreditDebit,
})
export type AccountBalance = z.infer<typeof AccountBalance>

export const BalanceResponse = z.strictObject({ Data: AccountBalance, Links, Meta })

export const getBalance = operation({
  name: 'getBalance',
  method: 'GET',
  path: '/open-banking/v1/accounts/{AccountId}/balances',
  summary: 'Get the balance of an account',
  access: ['customer'],
  scopes: ['accounts'],
  params: AccountParams,
  query: None,
  headers: InteractionHeaders,
  body: NoBody,
  replies: { 200: BalanceResponse },
  errors: ['ACCOUNT_NOT_FOUND'],
})

/** A transaction of an account (contract §TransactionListResponse). */
export const AccountTransaction = z.strictObject({
  TransactionId: z.string(),
  Amount: AmountResponse,
  CreditDebitIndicator: CreditDebit,
  Status: z.enum(['Booked', 'Pending']),
  BookingDateTime: Moment,
  /** The reference that the payer wrote. */
  TransactionReference: z.string().optional(),
  /** The name of the other party. */
  TransactionInformation: z.string().optional(),
  /** The balance of the account after this transaction. */
  Balance: z.strictObject({ Amount: AmountResponse, CreditDebitIndicator: CreditDebit }),
})
export type AccountTransaction = z.infer<typeof AccountTransaction>

export const TransactionListResponse = pageOf(AccountTransaction)

const LOCAL_TIME = /^((?!0000)\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** A day, or a time whose zone does not count (decision 7). */
const BookingTime = z
  .string()
  // An unescaped plus in an address is decoded as a blank.
  .transform((text) => text.replace(' ', '+'))
  .refine(isLocalTime, {
    error: 'must be a day such as 2026-11-01, or a time such as 2026-11-01T09:00:00',
    params: { code: 'INVALID_DATE' },
  })

function isLocalTime(text: string): boolean {
  const [, day, time = '00:00'] = LOCAL_TIME.exec(text) ?? []
  return (
    day !== undefined &&
    z.iso.date().safeParse(day).success &&
    z.iso.time().safeParse(time.length === 5 ? `${time}:00` : time).success
  )
}

export const TransactionsQuery = Paging.extend({
  fromBookingDateTime: BookingTime.optional(),
  toBookingDateTime: BookingTime.optional(),
})
export type TransactionsQuery = z.output<typeof TransactionsQuery>

export const listAccountTransactions = operation({
  name: 'listAccountTransactions',
  method: 'GET',
  path: '/open-banking/v1/accounts/{AccountId}/transactions',
  summary: 'List the transactions of an account, newest first',
  access: ['customer'],
  scopes: ['accounts'],
  params: AccountParams,
  query: TransactionsQuery,
  headers: InteractionHeaders,
  body: NoBody,
  replies: { 200: TransactionListResponse },
  errors: ['ACCOUNT_NOT_FOUND'],
})
