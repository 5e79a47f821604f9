import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { Balance, TransactionsQuery, listAccountTransactions, listAccounts } from '../../../src/wire/accounts.ts'
import { SandboxAccount, setSandboxAccount } from '../../../src/wire/sandbox-bank.ts'
import { CustomerReference, Name, Text, expectedOf } from './parts.ts'

const ofCustomer = { as: Name.optional(), of: CustomerReference }

/** Which account is looked at: the customer's own where nothing is said. Somebody else's is for what must be refused. */
const oneAccount = { ...ofCustomer, account: CustomerReference.optional(), account_id: Text.optional() }

const Page = z.int().min(1).optional()
const ofPages = { page: Page, page_size: Page }

/** The customer's accounts, as the Open Banking API lists them. */
export const Accounts = z.strictObject({
  ...ofCustomer,
  ...ofPages,
  expect: expectedOf(listAccounts.replies[200]),
})

/** What is on an account, as the Open Banking API tells it. */
export const Balances = z.strictObject({ ...oneAccount, expect: expectedOf(Balance) })

/** What was booked on an account, the newest first. */
export const Transactions = z.strictObject({
  ...oneAccount,
  ...ofPages,
  from: Text.optional().meta({ description: `${timeOf('fromBookingDateTime')} or later` }),
  to: Text.optional().meta({ description: `${timeOf('toBookingDateTime')} or before` }),
  expect: expectedOf(listAccountTransactions.replies[200]),
})

function timeOf(parameter: keyof TransactionsQuery): string {
  return `${parameter}: a day, or a time;`
}

const change = setSandboxAccount.body.shape

/** Blocks, closes or opens a customer's account, or gives it another overdraft limit. */
export const AccountStep = z
  .strictObject({
    of: CustomerReference,
    status: change.status,
    overdraft_limit: Text.optional(),
    expect: expectedOf(SandboxAccount),
  })
  .refine(({ status, overdraft_limit: limit }) => status !== undefined || limit !== undefined, {
    message: 'account takes one or both of status and overdraft_limit',
  })

export const ACCOUNT_VERBS = {
  account: {
    schema: AccountStep,
    text: 'Blocks, closes or opens an account, or sets its overdraft.',
    examples: ['account: { of: $c1, status: Blocked }'],
  },
  accounts: {
    schema: Accounts,
    text: 'Reads accounts over the Open Banking API.',
    examples: ['accounts: { of: $c1, expect: { Data: [{ Status: Enabled }] } }'],
    makes: made('answer', listAccounts.replies[200]),
  },
  balances: {
    schema: Balances,
    text: 'Reads a balance; `account: $c2` tries the account of another customer.',
    examples: ['balances: { of: $c1, expect: { BalanceAmount: { Amount: "500.00" } } }'],
    makes: made('answer', Balance),
  },
  transactions: {
    schema: Transactions,
    text: 'Reads the transactions of an account.',
    examples: [
      'transactions: { of: $c1, expect: { Data: [{ CreditDebitIndicator: Credit }] } }',
      'transactions: { of: $c1, from: "2026-01-01", expect: { Data: [{ CreditDebitIndicator: Credit }] } }',
    ],
    makes: made('answer', listAccountTransactions.replies[200]),
  },
} as const satisfies VerbTable
