import { z } from 'zod'
import { AccountRecord } from '../accounts/record.ts'

/** An account in the bank's own view, for any customer. */
export const SandboxAccountRecord = AccountRecord.pick({
  id: true,
  customer_id: true,
  currency: true,
  name: true,
  nickname: true,
  sort_code_account_number: true,
  iban: true,
  status: true,
  balance_minor: true,
  overdraft_limit_minor: true,
}).extend({
  external_customer_id: z.string(),
  /** Set for a merchant's settlement account. */
  merchant_id: z.string().nullable(),
  transaction_count: z.int(),
})
export type SandboxAccountRecord = z.infer<typeof SandboxAccountRecord>

export const SandboxCustomerRecord = z.object({
  id: z.string(),
  external_customer_id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  mobile: z.string().nullable(),
  proxy_id: z.string().nullable(),
  client_id: z.string().nullable(),
})
export type SandboxCustomerRecord = z.infer<typeof SandboxCustomerRecord>

/** The books of one currency, in minor units. */
export const BookTotalsRecord = z.object({
  currency: z.string(),
  accounts: z.int(),
  transfers: z.int(),
  balance: z.bigint(),
  came_in: z.bigint(),
  went_out: z.bigint(),
  wrong_accounts: z.int(),
  checked_at: z.string(),
})
export type BookTotalsRecord = z.infer<typeof BookTotalsRecord>
