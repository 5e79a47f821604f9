import { z } from 'zod'
import { IdParams, Limit, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, nameText, text } from './common.ts'
import { AccountAnswer } from './open-banking.ts'
import { operation } from './operation.ts'
import { Reference } from './sandbox.ts'

/** A test account. Amounts are decimal strings, such as "500.00". */
export const NewAccount = z.strictObject({
  currency: z.enum(['GBP', 'EUR']).default('GBP'),
  balance: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,2})?$/, 'must be a decimal string such as "500.00"')
    .default('1000.00'),
  overdraft_limit: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,2})?$/, 'must be a decimal string such as "100.00"')
    .default('0.00'),
  account_type: z.enum(['Personal', 'Business']).default('Personal'),
  account_sub_type: z.enum(['CurrentAccount', 'Savings', 'CreditCard']).default('CurrentAccount'),
  status: z.enum(['Enabled', 'Blocked', 'Closed']).default('Enabled'),
  nickname: nameText(70).optional(),
})
export type NewAccount = z.output<typeof NewAccount>

/** A test customer of the bank, by default with one account of 1,000 pounds. */
export const NewCustomer = z.strictObject({
  name: nameText(140).default('Sandbox Customer'),
  /** The identifiers that others find the customer by; by default a generated one. */
  email: z.email().max(320).optional(),
  mobile: z
    .string()
    .regex(/^\+[1-9]\d{7,14}$/, 'must be in the form +447700900123')
    .optional(),
  proxy_id: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens or underscores')
    .optional(),
  reference: Reference.optional(),
  accounts: z.array(NewAccount).min(1).max(10).prefault([{}]),
})
export type NewCustomer = z.output<typeof NewCustomer>

/** An account as the sandbox shows it: the bank's own view. */
export const SandboxAccount = z.strictObject({
  account_id: Uuid,
  customer_id: z.string().meta({ description: 'external id: the `sub` of its tokens' }),
  name: z.string(),
  nickname: z.string().nullable(),
  currency: z.string(),
  balance: z.string().meta({ examples: ['950.00', '-12.00'] }),
  overdraft_limit: z.string(),
  status: z.enum(['Enabled', 'Blocked', 'Closed']),
  identifications: z.array(AccountAnswer),
  transaction_count: z.int(),
})
export type SandboxAccount = z.infer<typeof SandboxAccount>

/** A customer with the credentials of a program that acts for it. Only this response has the secret. */
export const SandboxCustomer = z.strictObject({
  customer_id: z.string().meta({ description: 'external id: X-Customer-Id without an identity provider' }),
  name: z.string(),
  email: z.string().nullable(),
  mobile: z.string().nullable(),
  proxy_id: z.string().nullable(),
  /** Null without an identity provider. */
  client_id: z.string().nullable(),
  client_secret: z.string().nullable(),
  issuer: z.string().nullable(),
  accounts: z.array(SandboxAccount),
})
export type SandboxCustomer = z.infer<typeof SandboxCustomer>

const shared = {
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: None,
  headers: NoHeaders,
} as const

export const createSandboxCustomer = operation({
  ...shared,
  name: 'createSandboxCustomer',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/sandbox/customers',
  summary: 'Create a test customer with accounts and money',
  body: NewCustomer,
  replies: { 201: SandboxCustomer },
  errors: ['PROXY_TAKEN'],
})

/** Selects the accounts of a customer, or the settlement accounts of a merchant; by default all. */
export const listSandboxAccounts = operation({
  ...shared,
  name: 'listSandboxAccounts',
  method: 'GET',
  path: '/api/v1/sandbox/accounts',
  summary: "List the bank's accounts with their balances",
  description: 'Includes the settlement accounts of merchants.',
  query: z.strictObject({
    customer_id: text(255).optional(),
    merchant_id: z.string().max(64).optional(),
    limit: Limit,
    cursor: z.string().max(200).optional(),
  }),
  body: NoBody,
  replies: { 200: listOf(SandboxAccount) },
  errors: [],
})

/** The status of a bank account; a closed one can be opened again. */
export const setSandboxAccount = operation({
  ...shared,
  name: 'setSandboxAccount',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/sandbox/accounts/{id}',
  summary: "Set an account's status or overdraft limit",
  params: IdParams,
  body: z.strictObject({
    status: z.enum(['Enabled', 'Blocked', 'Closed']).optional(),
    overdraft_limit: NewAccount.shape.overdraft_limit.unwrap().optional(),
  }),
  replies: { 200: SandboxAccount },
  errors: ['ACCOUNT_NOT_FOUND', 'OVERDRAFT_IN_USE'],
})

/** The total of all accounts of a currency, and of the transfers from and to other banks. */
export const BookTotals = z.strictObject({
  currency: z.string(),
  accounts: z.int(),
  transfers: z.int(),
  balance: z.string(),
  came_in: z.string(),
  went_out: z.string(),
  /** `balance` minus incoming plus outgoing transfers: anything but "0.00" is money created or lost. */
  difference: z.string(),
  /** Accounts whose balance differs from the sum of their transactions, or is below the overdraft limit. */
  wrong_accounts: z.int(),
})
export type BookTotals = z.infer<typeof BookTotals>

export const checkBooks = operation({
  ...shared,
  name: 'checkBooks',
  method: 'GET',
  path: '/api/v1/sandbox/books',
  summary: "Check that the bank's books balance",
  body: NoBody,
  replies: { 200: z.strictObject({ checked_at: Timestamp, is_balanced: z.boolean(), totals: z.array(BookTotals) }) },
  errors: [],
})

/** Maximum of customers times days, because one transaction inserts them and must not take minutes. */
const CUSTOMER_DAYS_MAX = 20_000

/** The size of the data, and its seed: the same seed gives the same names, accounts and transactions. */
export const Seeding = z
  .strictObject({
    seed: z.int().min(0).max(2_147_483_647).default(1),
    customers: z.int().min(1).max(100).default(5),
    /** Days of history up to yesterday. */
    days: z.int().min(1).max(730).default(365),
  })
  .refine(({ customers, days }) => customers * days <= CUSTOMER_DAYS_MAX, {
    path: ['days'],
    message: `must be fewer for so many customers: customers times days may be ${CUSTOMER_DAYS_MAX} at most`,
  })

export const seedSandbox = operation({
  ...shared,
  name: 'seedSandbox',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/sandbox/seed',
  summary: 'Seed the bank with customers and a year of transactions',
  description: 'The same seed number gives the same customers, accounts and transactions.',
  body: Seeding.prefault({}),
  bodyOptional: true,
  replies: {
    201: z.strictObject({
      seed: z.int(),
      customers: z.array(SandboxCustomer.omit({ client_secret: true, issuer: true })),
      transactions: z.int(),
      /** How many of the customers existed already: seeding again with the same seed changes nothing. */
      already_there: z.int(),
    }),
  },
  errors: [],
})
