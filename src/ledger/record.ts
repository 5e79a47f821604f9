import { z } from 'zod'
import { LEDGER_ACCOUNTS } from './movements.ts'

/** The balance of one account of a merchant, as numeric text on the account's normal side. */
export const LedgerBalance = z.object({ currency: z.string(), account: z.enum(LEDGER_ACCOUNTS), balance: z.string() })
export type LedgerBalance = z.infer<typeof LedgerBalance>
