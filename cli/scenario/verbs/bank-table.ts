import type { CaseRun } from '../play/case-run.ts'
import type { BANK_VERBS } from '../language/bank-verbs.ts'
import { account, accounts, balances, transactions } from './accounts.ts'
import { exec } from './exec.ts'
import { active, fees } from './merchant.ts'
import { merchant, register } from './merchants.ts'
import { bankAccount, branding, origins } from './portal.ts'
import { recurring } from './recurring.ts'
import { offer, request } from './requests.ts'

/** What plays the verbs of language/bank-verbs.ts: rows of PLAYERS. */
export const BANK_PLAYERS: Readonly<Record<keyof typeof BANK_VERBS, (run: CaseRun, input: unknown) => Promise<void>>> =
  {
    accounts,
    balances,
    transactions,
    account,
    recurring,
    request,
    offer,
    merchant,
    register,
    active,
    fees,
    branding,
    origins,
    bank_account: bankAccount,
    exec,
  }
