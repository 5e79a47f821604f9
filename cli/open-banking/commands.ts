import type { Command } from 'commander'
import { z } from 'zod'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import { withTimeRange } from '../kit/time-range.ts'
import type { Runtime } from '../kit/context.ts'
import { TransactionsOptions, accounts, balances, transactions } from './accounts.ts'
import { addRecurring } from './add-recurring.ts'
import { addRequests } from './add-requests.ts'
import { ObPaging, obPaged } from './pages.ts'
import { PAY_ACTIONS, payment } from './pay.ts'

/** `svc ob`: the Open Banking API, as a customer of the bank. */
export function addOb(ob: Command, runtime: Runtime): void {
  ob.option('--customer <id>', 'Customer without an identity provider (SVC_CUSTOMER_ID; demo customer)').addHelpText(
    'after',
    EXAMPLES,
  )
  addAccounts(ob, runtime)
  addPay(ob, runtime)
  addRecurring(ob, runtime)
  addRequests(ob, runtime)
}

const EXAMPLES = `
Amounts are decimals such as 10.00; an account is a sort code with its number (20-00-00 55779911), or an IBAN.

Examples:
  svc ob accounts
  svc ob pay --amount 10.00 --currency GBP --to 20000055779911 --wait
  svc ob transactions --since 30d
  svc ob recurring preview IntrvlMnthDay:01:-01 --first 2026-12-01
  svc ob --customer grace balances
`

function addAccounts(ob: Command, runtime: Runtime): void {
  obPaged(ob.command('accounts').description("List the customer's accounts"))
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob accounts\n  svc ob accounts -q [0].AccountId\n  svc ob accounts -o csv\n',
    )
    .action(action(runtime, ObPaging, accounts))
  ob.command('balances')
    .description('Show account balances')
    .argument('[account]', ACCOUNT)
    .addHelpText('after', '\nExamples:\n  svc ob balances\n  svc ob balances 12345678\n')
    .action(action(runtime, z.object({}), balances))
  const transacted = ob
    .command('transactions')
    .description('List transactions of an account, newest first')
    .argument('[account]', `${ACCOUNT} (the first account)`)
    .optionsGroup('Filters:')
  obPaged(withTimeRange(transacted, 'Booked'))
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob transactions\n  svc ob transactions a2b4358c --since 30d\n  svc ob transactions --since 2026-11-01 --until 2026-12-01 --all -o csv\n',
    )
    .action(action(runtime, TransactionsOptions, transactions))
}

const ACCOUNT = 'Account number, IBAN, id, or the last 8 characters of the id'

function addPay(ob: Command, runtime: Runtime): void {
  addActions(ob, runtime, PAY_ACTIONS)
  ob.command('payment')
    .description('Show an ordered payment and its status')
    .argument('<id>', 'Full payment id, from svc ob pay')
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob payment 01a1fd03-f879-7eb7-872f-a2b4358c4f6d\n  svc ob payment 01a1fd03-f879-7eb7-872f-a2b4358c4f6d -q Status\n',
    )
    .action(action(runtime, z.object({}), payment))
}
