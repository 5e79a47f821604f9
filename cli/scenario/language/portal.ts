import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { BankAccount } from '../../../src/wire/bank-accounts.ts'
import { Branding, BrandingFont, CheckoutOrigins } from '../../../src/wire/settings.ts'
import { BankAccountReference, Name, Text, expectedOf } from './parts.ts'

/** The look of the merchant's checkout; what is left out has its default. */
export const BrandingStep = z.strictObject({
  colors: z.strictObject({ primary: Text.optional(), background: Text.optional(), text: Text.optional() }).optional(),
  logo_url: Text.nullable().optional(),
  font: BrandingFont.optional(),
  expect: expectedOf(Branding),
})

/** The pages that may embed the checkout. */
export const Origins = z.strictObject({ allowed: z.array(Text).max(50), expect: expectedOf(CheckoutOrigins) })

/** An account that payouts go to. */
export const AddBankAccount = z.strictObject({
  as: Name.optional(),
  account_holder_name: Text.optional(),
  sort_code: Text,
  account_number: Text,
  iban: Text.optional(),
  expect: expectedOf(BankAccount),
})
export const DisableBankAccount = z.strictObject({ disable: BankAccountReference, expect: expectedOf(BankAccount) })

export const PORTAL_VERBS = {
  branding: {
    schema: BrandingStep,
    text: 'Sets the look of the checkout.',
    examples: ['branding: { colors: { primary: "#0B5FFF" } }'],
  },
  origins: {
    schema: Origins,
    text: 'Sets the pages that may embed the checkout.',
    examples: ['origins: { allowed: ["https://shop.example"] }'],
  },
  bank_account: {
    schema: z.union([AddBankAccount, DisableBankAccount]),
    text: 'Adds or disables a payout account.',
    examples: [
      'bank_account: { as: b1, sort_code: "12-34-56", account_number: "12345678" }',
      'bank_account: { disable: $b1 }',
    ],
    makes: made('bank account', BankAccount),
  },
} as const satisfies VerbTable
