import { z } from 'zod'
import { AccountStep, Accounts, Balances, Transactions } from './accounts.ts'
import { Exec } from './exec.ts'
import { CancelRecurring, DecideOffer, DecideRequest, OfferStep, RecurringStep, RequestStep } from './instructions.ts'
import { Active, Fees, MerchantStep, Register } from './merchant.ts'
import { AddBankAccount, BrandingStep, DisableBankAccount, Origins } from './portal.ts'

/** The verbs of the bank's customers, of other merchants, of a merchant's settings, and of commands: rows of VERBS. */
export const BANK_VERBS = {
  accounts: { schema: Accounts, example: 'accounts: { of: $c1, expect: { Data: [{ Status: Enabled }] } }' },
  balances: { schema: Balances, example: 'balances: { of: $c1, expect: { BalanceAmount: { Amount: "500.00" } } }' },
  transactions: {
    schema: Transactions,
    example: 'transactions: { of: $c1, expect: { Data: [{ CreditDebitIndicator: Credit }] } }',
  },
  account: { schema: AccountStep, example: 'account: { of: $c1, status: Blocked }' },
  recurring: {
    schema: z.union([RecurringStep, CancelRecurring]),
    example: 'recurring: { as: s1, from: $c1, to: $c2, amount: "10.00", frequency: EvryDay, first: 1d }',
  },
  request: {
    schema: z.union([RequestStep, DecideRequest]),
    example: 'request: { as: r1, from: $c2, to: $c1, amount: "10.00" }',
  },
  offer: {
    schema: z.union([OfferStep, DecideOffer]),
    example: 'offer: { as: f1, from: $c1, to: $c2, amount: "10.00" }',
  },
  merchant: { schema: MerchantStep, example: 'merchant: { as: other, name: Other Ltd }' },
  register: { schema: Register, example: 'register: { as: new, company_name: New Ltd }' },
  active: { schema: Active, example: 'active: { of: $other, enabled: false, reason: "asked for it" }' },
  fees: { schema: Fees, example: 'fees: { fee_percentage: "0.0150", fee_flat: "0.10" }' },
  branding: { schema: BrandingStep, example: 'branding: { colors: { primary: "#0B5FFF" } }' },
  origins: { schema: Origins, example: 'origins: { allowed: ["https://shop.example"] }' },
  bank_account: {
    schema: z.union([AddBankAccount, DisableBankAccount]),
    example: 'bank_account: { as: b1, sort_code: "12-34-56", account_number: "12345678" }',
  },
  exec: { schema: Exec, example: 'exec: { run: [node, check.mjs, $p1.payment_id], expect: { exit: 0 } }' },
} as const
