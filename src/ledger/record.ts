import { z } from 'zod'
import { LEDGER_ACCOUNTS } from './movements.ts'

/** The balance of one account of a merchant, as numeric text on the account's normal side. */
export const LedgerBalance = z.object({ currency: z.string(), account: z.enum(LEDGER_ACCOUNTS), balance: z.string() })
export type LedgerBalance = z.infer<typeof LedgerBalance>

/** The balances of all accounts in a currency, as numeric text on each account's normal side. */
export const CurrencySums = z.object({
  currency: z.string(),
  bank: z.string(),
  clearing: z.string(),
  merchant_payable: z.string(),
  held: z.string(),
  payouts_in_transit: z.string(),
  fees_earned: z.string(),
  rounding: z.string(),
})
export type CurrencySums = z.infer<typeof CurrencySums>

/** A row of `corrections`: `amount` is what clearing gets. */
export const CorrectionRecord = z.object({
  id: z.string(),
  merchant_id: z.string(),
  currency: z.string(),
  amount: z.string(),
  booked_against: z.enum(['bank', 'fees_earned']),
  reference: z.string().nullable(),
  payment_id: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
})
export type CorrectionRecord = z.infer<typeof CorrectionRecord>

/** The same of one merchant. */
export const MerchantBalances = CurrencySums.extend({
  merchant_id: z.string(),
  trading_name: z.string(),
  realm_slug: z.string().nullable(),
})
export type MerchantBalances = z.infer<typeof MerchantBalances>
