import { z } from 'zod'

/** An account of the bank (migrations/0011_accounts.sql). Amounts are minor units of `currency`. */
export const AccountRecord = z.object({
  id: z.string(),
  customer_id: z.string(),
  currency: z.string(),
  account_type: z.enum(['Personal', 'Business']),
  account_sub_type: z.enum(['CurrentAccount', 'Savings', 'CreditCard']),
  name: z.string(),
  nickname: z.string().nullable(),
  sort_code_account_number: z.string().nullable(),
  iban: z.string().nullable(),
  status: z.enum(['Enabled', 'Blocked', 'Closed']),
  balance_minor: z.bigint(),
  overdraft_limit_minor: z.bigint(),
  transaction_count: z.bigint(),
})
export type AccountRecord = z.infer<typeof AccountRecord>

/** A transaction of one account, numbered from 1 without gaps. Amounts are minor units of `currency`. */
export const AccountTransactionRecord = z.object({
  account_id: z.string(),
  currency: z.string(),
  number: z.bigint(),
  amount_minor: z.bigint(),
  credit_debit_indicator: z.enum(['Credit', 'Debit']),
  status: z.enum(['Booked', 'Pending']),
  booking_date_time: z.string(),
  /** The account's balance after it; negative when overdrawn. */
  balance_minor: z.bigint(),
  counterparty_name: z.string().nullable(),
  reference: z.string().nullable(),
})
export type AccountTransactionRecord = z.infer<typeof AccountTransactionRecord>
