import { disableBankAccount, listBankAccounts } from '../../src/wire/bank-accounts.ts'
import type { BankAccount } from '../../src/wire/bank-accounts.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { action } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import { printAccount } from './view.ts'

/** An account that payouts go to. */
const bankAccount: Subject<BankAccount> = {
  noun: 'account-id',
  summary: 'Its id, or its last 8 characters',
  async find(client, given) {
    const { call } = await import('../client/call.ts')
    const { resolveId } = await import('../kit/resolve-id.ts')
    const accounts = (await call(client, listBankAccounts, {})).body.data
    const id = await resolveId(given, 'bank account', async function* ids() {
      for (const account of accounts) yield account.id
    })
    const thing = accounts.find((account) => account.id === id)
    if (thing === undefined)
      throw new CliError('BANK_ACCOUNT_NOT_FOUND', `bank account not found: ${given}`, {
        exit: EXIT.notFound,
        hint: 'svc bank-accounts list',
      })
    return { thing, isExact: given.toLowerCase() === id }
  },
  id: ({ id }) => id,
  name: ({ account_holder_name: holder, account_number: number }) => `${number} of ${holder}`,
  handle: ({ id }) => id,
  confirmBy: ({ id }) => [id.slice(-8), id],
}

const disable = action({
  command: 'bank-accounts disable',
  summary: 'Disable a payout account',
  details: 'No payout goes to a disabled account. It stays in the list.',
  examples: ['svc bank-accounts disable 4f7a1c9e'],
  subject: bankAccount,
  flags: {},
  operation: disableBankAccount,
  request: (id) => ({ params: { id } }),
  move: {
    member: 'is_active',
    from: true,
    to: false,
    already: (thing) => `${bankAccount.name(thing)} is disabled already`,
  },
  effect: (thing) => `end payouts to the account ${bankAccount.name(thing)}`,
  done: (thing) => `disabled ${bankAccount.name(thing)}`,
  confirm: true,
  view: printAccount,
})

/** What is done to accounts that payouts go to. Their numbers are asked for, so that one is made by hand (create.ts). */
export const BANK_ACCOUNT_ACTIONS = [disable] as const
