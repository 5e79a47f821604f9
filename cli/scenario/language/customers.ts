import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { OrderStatus, PaymentResponse } from '../../../src/wire/orders.ts'
import { NewAccount, NewCustomer, SandboxAccount } from '../../../src/wire/sandbox-bank.ts'
import {
  AccountReference,
  CustomerReference,
  Matcher,
  Name,
  OrderReference,
  Text,
  Wait,
  expectedOf,
  matchersOf,
} from './parts.ts'

/** A customer of the bank with one account: whoever pays, is paid, or looks at what is there. */
export const CustomerStep = z.strictObject({
  as: Name,
  name: Text.optional(),
  email: Text.optional(),
  mobile: Text.optional(),
  proxy_id: Text.optional(),
  /** Of the account: "1000.00" where nothing is said. */
  balance: Text.optional(),
  currency: NewAccount.shape.currency.unwrap().optional(),
  overdraft_limit: Text.optional(),
  status: NewAccount.shape.status.unwrap().optional(),
})

/** The fields that are the customer's own; the others are its account's. */
export const OF_CUSTOMER: readonly string[] = Object.keys(NewCustomer.shape).filter((name) => name !== 'accounts')

/** A payment over the Open Banking API, as a customer. */
export const OrderStep = z.strictObject({
  as: Name.optional(),
  from: CustomerReference,
  /** A customer, or an account anywhere. */
  to: z.union([CustomerReference, z.strictObject({ SchemeName: Text, Identification: Text, Name: Text.optional() })]),
  amount: Text,
  currency: Text.optional(),
  reference: Text.optional(),
  idempotency_key: Text.optional(),
  expect: expectedOf(PaymentResponse),
})

export const AwaitOrder = z.strictObject({ order: OrderReference, status: OrderStatus, within: Wait.optional() })
export const ExpectOrder = z.strictObject({ ...matchersOf(PaymentResponse), order: OrderReference })

/** What is on the account of a customer, or on the merchant's settlement account: $merchant. */
export const AwaitAccount = z.strictObject({ account: AccountReference, balance: Text, within: Wait.optional() })
export const ExpectAccount = z.strictObject({
  ...matchersOf(SandboxAccount),
  account: AccountReference,
  /** The newest transactions, the newest first, as the Open Banking API lists them. */
  transactions: z.array(Matcher).max(100).optional(),
})

/** That no money was made or lost, over all accounts of the bank. */
export const ExpectBooks = z.strictObject({ books: z.literal('balanced') })

export const CUSTOMER_VERBS = {
  customer: {
    schema: CustomerStep,
    text: 'Creates a customer with an account and money on it.',
    examples: ['customer: { as: c1, balance: "500.00" }', 'customer: { as: c1, name: Jo, balance: "500.00" }'],
    makes: {
      kind: 'customer',
      members: ['customer_id', 'name', 'email', 'mobile', 'proxy_id', 'account_id', 'accounts'],
    },
  },
  order: {
    schema: OrderStep,
    text: 'Orders a payment.',
    examples: ['order: { as: o1, from: $c1, to: $c2, amount: "10.00" }'],
    makes: made('order', PaymentResponse),
  },
} as const satisfies VerbTable
