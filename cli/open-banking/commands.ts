import type { Command } from 'commander'
import { z } from 'zod'
import { addActions } from '../kit/action-command.ts'
import type { AnyAction } from '../kit/action.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { withTimeRange } from '../kit/paging.ts'
import { TransactionsOptions, accounts, balances, transactions } from './accounts.ts'
import { ObPaging, obPaged } from './pages.ts'
import { PAY_ACTIONS, payment } from './pay.ts'
import { FREQUENCIES, RECURRING_ACTIONS } from './recurring-actions.ts'
import { addRecurringReads } from './recurring.ts'
import { OFFER_ACTIONS, REQUEST_ACTIONS } from './request-actions.ts'
import { OFFERS, REQUESTS, requestReads } from './requests.ts'
import type { RequestKind, Row } from './requests.ts'
import { subcommand } from '../kit/option-values.ts'

export function addOb(ob: Command, runtime: Runtime): void {
  ob.option('--customer <id>', 'Customer without an identity provider (SVC_CUSTOMER_ID; demo customer)').addHelpText(
    'after',
    EXAMPLES,
  )
  addAccounts(ob, runtime)
  addPay(ob, runtime)
  addRecurring(ob, runtime)
  addRequests(ob, runtime, REQUESTS, REQUEST_ACTIONS)
  addRequests(ob, runtime, OFFERS, OFFER_ACTIONS)
}

const EXAMPLES = `
Amounts are decimals such as 10.00; an account is a sort code with its number (20-00-00 55779911), or an IBAN.

Examples:
  svc ob accounts
  svc ob pay --amount 10.00 --currency GBP --to 20000055779911 --wait
  svc ob transactions --since 30d
  svc ob recurring list
  svc ob --customer grace balances
`

function addAccounts(ob: Command, runtime: Runtime): void {
  obPaged(subcommand(ob, 'accounts', "List the customer's accounts"))
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

function addRecurring(ob: Command, runtime: Runtime): void {
  const recurring = ob
    .command('recurring')
    .helpCommand(false)
    .description('Manage recurring payments')
    .addHelpText('after', `\n${FREQUENCIES}\n\nExamples:\n  svc ob recurring list\n`)
  addRecurringReads(recurring, runtime)
  addActions(ob, runtime, RECURRING_ACTIONS)
}

/** `svc ob request-to-pay` and `svc ob offer-to-pay`. */
function addRequests<R extends Row>(
  ob: Command,
  runtime: Runtime,
  kind: RequestKind<R>,
  actions: readonly AnyAction[],
): void {
  const words = `svc ob ${kind.words}`
  const group = ob.command(kind.words).helpCommand(false).description(kind.summary)
  group.addHelpText('after', `\nExamples:\n  ${words} list\n  ${words} accept a2b4358c --wait\n`)
  const { list, show } = requestReads(kind)
  obPaged(group.command('list').description(`List ${kind.noun.replace(' ', 's ')}, newest first`))
    .addHelpText('after', `\nExamples:\n  ${words} list\n  ${words} list --all -o csv\n`)
    .action(action(runtime, ObPaging, list))
  subcommand(group, 'show', `Show ${kind.article} ${kind.noun}`)
    .argument(`<${kind.word}>`, 'Its id, or its last 8 characters')
    .addHelpText('after', `\nExamples:\n  ${words} show a2b4358c\n`)
    .action(action(runtime, z.object({}), show))
  addActions(ob, runtime, actions)
}
