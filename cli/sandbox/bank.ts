import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { collect, DataOption, subcommand } from '../kit/option-values.ts'
import { paged } from '../kit/paging.ts'
import { ListOptions, SetOptions, books, list, set } from './accounts.ts'
import { CreateOptions, create } from './customers.ts'
import { SeedOptions, seed } from './seed.ts'

const SEED_HELP = `
The number decides who is there and what they do. The bank: the same number on the same day makes the same customers,
accounts and transactions, ids too. Trade: the same number plans the same payments, with the same payers, amounts and
endings; ids and times are new each time, and so may be which of them are disputed. A number is seeded once: again, it
adds nothing.

Examples:
  svc sandbox seed
  svc sandbox seed --seed 7 --customers 20 --days 90
  svc sandbox seed --merchants 3 --payments 200
  svc sandbox seed --merchants 3 --dry-run           which shops, and who waits for a review
`

/** The bank of the sandbox: its customers, its accounts and its books. */
export function addBank(sandbox: Command, runtime: Runtime): void {
  changing(
    subcommand(sandbox, 'seed', 'Create demo customers, merchants and payments'),
    'Show the request or the planned payments, and change nothing',
  )
    .option('--seed <number>', 'Seed of all generated data (1)')
    .optionsGroup('The bank:')
    .option('--customers <count>', 'Number of customers, 1 to 100 (5)')
    .option('--days <count>', 'Days of history up to yesterday, 1 to 730; 20000 over all customers (365)')
    .optionsGroup('Trade: payments in every state, disputes, payouts, dead webhooks, merchants to review:')
    .option('--merchants <count>', 'Number of demo merchants, 1 to 8; 3 with --payments alone')
    .option('--payments <count>', 'Number of payments, 0 to 5000; 200 with --merchants alone')
    .addHelpText('after', SEED_HELP)
    .action(action(runtime, SeedOptions, seed))
  addCustomers(sandbox, runtime)
  paged(
    subcommand(sandbox, 'accounts', 'List bank accounts and their balances')
      .optionsGroup('Filters:')
      .option('--customer <id>', 'Filter by customer, such as customer-demo')
      .option('--merchant <merchant>', 'Settlement accounts of a merchant: its id, realm or client id'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox accounts --customer customer-demo\n  svc sandbox accounts --merchant demo -o csv\n',
    )
    .action(action(runtime, ListOptions, list))
  addAccount(sandbox, runtime)
  subcommand(sandbox, 'books', "Check that the bank's books balance")
    .addHelpText(
      'after',
      '\nExit code 3 if they do not balance.\n\nExamples:\n  svc sandbox books\n  svc sandbox books -q is_balanced\n',
    )
    .action(action(runtime, z.object({}), books))
}

function addCustomers(sandbox: Command, runtime: Runtime): void {
  const customers = sandbox.command('customers').helpCommand(false).description('Create customers of the bank')
  changing(subcommand(customers, 'create', 'Create a bank customer with accounts and balances'))
    .option('--name <name>', 'Name of the customer')
    .option('--email <address>', 'E-mail address as a payment alias (a generated one)')
    .option('--mobile <number>', 'Mobile number as a payment alias, such as +447700900123')
    .option('--proxy-id <id>', 'Proxy id as a payment alias')
    .option('--account <balance>', 'Account with this balance: 500.00 or EUR:500.00; may be repeated', collect)
    .addOption(new DataOption('--balance <balance>', 'Balance of a single account').conflicts('account'))
    .option('--overdraft <amount>', 'Overdraft limit of each account')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox customers create --balance 250.00\n  svc sandbox customers create --name "Ada Payer" --account 500.00 --account EUR:20.00\n',
    )
    .action(action(runtime, CreateOptions, create))
}

function addAccount(sandbox: Command, runtime: Runtime): void {
  const account = sandbox.command('account').helpCommand(false).description('Change bank accounts')
  changing(subcommand(account, 'set', 'Change the status or overdraft of a bank account'))
    .argument('<account>', 'Account number, IBAN, id, or the last 8 characters of the id')
    .addOption(
      new Option('--status <status>', 'New status: enabled, blocked or closed').choices([
        'enabled',
        'blocked',
        'closed',
      ]),
    )
    .option('--overdraft <amount>', 'Overdraft limit')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox account set a2b4358c --status blocked\n  svc sandbox account set "00-00-75 12345678" --overdraft 250.00\n',
    )
    .action(action(runtime, SetOptions, set))
}
