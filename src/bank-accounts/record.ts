import { z } from 'zod'

/** An account that a merchant's payouts go to; its numbers are sealed (migrations/0002_merchants.sql). */
export const BankAccountRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  account_holder_name: z.string(),
  encrypted_account_number: z.string(),
  encrypted_sort_code: z.string(),
  encrypted_iban: z.string().nullable(),
  is_active: z.boolean(),
  created_at: z.string(),
  disabled_at: z.string().nullable(),
})
export type BankAccountRecord = z.infer<typeof BankAccountRecord>
