import type { Command } from 'commander'
import { z } from 'zod'
import { addActions } from '../kit/action-command.ts'
import { dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { BANK_ACCOUNT_ACTIONS } from './actions.ts'
import { CreateOptions, create } from './create.ts'
import { list } from './view.ts'

/** `svc bank-accounts`: where the merchant's payouts go. */
export function addBankAccounts(accounts: Command, runtime: Runtime): void {
  accounts.addHelpText(
    'after',
    '\nExamples:\n  svc bank-accounts create --holder "Acme Ltd"\n  svc bank-accounts list\n',
  )
  accounts
    .command('list')
    .description('List payout accounts with masked numbers')
    .addHelpText('after', '\nExamples:\n  svc bank-accounts list\n')
    .action(action(runtime, z.object({}), list))
  dangerous(accounts.command('create'))
    .description('Create a payout account')
    .requiredOption('--holder <name>', 'Name of the account holder')
    .option('--stdin', 'Read the account numbers as JSON from standard input')
    .addHelpText('after', CREATE_HELP)
    .action(action(runtime, CreateOptions, create))
  addActions(accounts, runtime, BANK_ACCOUNT_ACTIONS)
}

const CREATE_HELP = `
No number stands on the command line, where the shell's history and other users would see it. At a terminal they are
asked for; a program writes them to standard input, as {"sort_code", "account_number", "iban"}; the last may be left out.

Examples:
  svc bank-accounts create --holder "Acme Ltd"
  svc bank-accounts create --holder "Acme Ltd" --stdin < account.json
`
