import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { changing } from '../kit/change.ts'
import { DataOption, collect } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ListOptions, SetOptions, books, list, set } from './accounts.ts'
import { CreateOptions, create } from './customers.ts'
import { SeedOptions, seed } from './seed.ts'
import { paged } from '../kit/paging.ts'

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
  changing(sandbox.command('seed'), 'show the request, or what trade would be made, and change nothing')
    .description('fill the bank with customers and a history, or with --merchants the service with shops that trade')
    .option('--seed <number>', 'the number that all of it follows from (1)')
    .optionsGroup('The bank:')
    .option('--customers <count>', 'how many, 1 to 100 (5)')
    .option('--days <count>', 'of history up to yesterday, 1 to 730; times the customers 20000 at most (365)')
    .optionsGroup('Trade: payments in every state, disputes, dead webhooks, merchants to review:')
    .option('--merchants <count>', 'shops, 1 to 8; with --payments alone 3')
    .option('--payments <count>', 'theirs and your own, 0 to 5000; with --merchants alone 200')
    .addHelpText('after', SEED_HELP)
    .action(action(runtime, SeedOptions, seed))
  addCustomers(sandbox, runtime)
  paged(
    sandbox
      .command('accounts')
      .description("list the bank's accounts with what is on them")
      .optionsGroup('Filters:')
      .option('--customer <id>', 'of this customer, such as customer-demo')
      .option('--merchant <merchant>', "this merchant's settlement accounts: its id, realm or client id"),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox accounts --customer customer-demo\n  svc sandbox accounts --merchant demo -o csv\n',
    )
    .action(action(runtime, ListOptions, list))
  addAccount(sandbox, runtime)
  sandbox
    .command('books')
    .description("sum up the bank's books; exit code 3 when money was made or lost")
    .addHelpText('after', '\nExamples:\n  svc sandbox books\n  svc sandbox books -q is_balanced\n')
    .action(action(runtime, z.object({}), books))
}

function addCustomers(sandbox: Command, runtime: Runtime): void {
  const customers = sandbox.command('customers').helpCommand(false).description('make customers of the bank')
  changing(customers.command('create'))
    .description('make a customer with accounts and money')
    .option('--name <name>', 'what the customer is called')
    .option('--email <address>', 'by which others find the customer; one is made where none is given')
    .option('--mobile <number>', 'likewise, such as +447700900123')
    .option('--proxy-id <id>', "likewise, of the customer's own choice")
    .option('--account <balance>', 'an account with so much on it: 500.00, or EUR:500.00; may be repeated', collect)
    .addOption(
      new DataOption('--balance <balance>', 'the same, for one account with so much on it').conflicts('account'),
    )
    .option('--overdraft <amount>', 'by how much each account may be overdrawn')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox customers create --balance 250.00\n  svc sandbox customers create --name "Ada Payer" --account 500.00 --account EUR:20.00\n',
    )
    .action(action(runtime, CreateOptions, create))
}

function addAccount(sandbox: Command, runtime: Runtime): void {
  const account = sandbox.command('account').helpCommand(false).description('be the bank of an account')
  changing(account.command('set'))
    .description('block an account, close it, open it again, or let it be overdrawn')
    .argument('<account>', 'its number or IBAN, its id, or the last 8 characters of that')
    .addOption(new Option('--status <status>', 'enabled, blocked or closed').choices(['enabled', 'blocked', 'closed']))
    .option('--overdraft <amount>', 'by how much it may be overdrawn')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox account set a2b4358c --status blocked\n  svc sandbox account set "00-00-75 12345678" --overdraft 250.00\n',
    )
    .action(action(runtime, SetOptions, set))
}
