import { z } from 'zod'
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
