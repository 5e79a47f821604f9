import type { Command } from 'commander'
import { z } from 'zod'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { keyedOrder, money } from './options.ts'
import { ObPaging, obPaged } from './pages.ts'
import { PreviewOptions, preview } from './preview.ts'
import { RECURRING_ACTIONS } from './recurring-cancel.ts'
import { CreateRecurringOptions, create, show, list } from './recurring.ts'

const FORMS = `
A frequency has one of four forms:
  EvryDay                every day
  EvryWorkgDay           every day but weekends and bank holidays
  IntrvlWkDay:02:03      every 2 weeks (01 to 09) on Wednesday (01 is Monday)
  IntrvlMnthDay:01:-01   every month (01 to 06, 12, 24) on its last day (-01 to
                         -05), or on a day of 01 to 31
`
const TIMES = `
A day alone, or 14d from today, is 09:00 in London, and as --final the whole day; 2026-12-01T08:30 is London's time as
well. A moment may also be now, or +10m or +2h from now: then a repeat with the same --idempotency-key is refused.
`
const HOLIDAYS = `SVC_BANK_HOLIDAYS adds bank holidays, or takes some away: 2027-05-07,-2027-05-03, as for the service.
`

/** `svc ob recurring`. */
export function addRecurring(ob: Command, runtime: Runtime): void {
  const recurring = ob
    .command('recurring')
    .helpCommand(false)
    .description('Manage recurring payments')
    .addHelpText(
      'after',
      `${FORMS}\nExamples:\n  svc ob recurring list\n  svc ob recurring preview EvryWorkgDay --first 2026-12-21\n`,
    )
  addCreate(recurring, runtime)
  obPaged(recurring.command('list').description('List recurring payments, newest first'))
    .addHelpText('after', '\nExamples:\n  svc ob recurring list\n  svc ob recurring list --all -o csv\n')
    .action(action(runtime, ObPaging, list))
  recurring
    .command('show')
    .description('Show a recurring payment and its next due date')
    .argument('<recurring>', 'Its id, or its last 8 characters')
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob recurring show a2b4358c\n  svc ob recurring show a2b4358c -q NextRunDateTime\n',
    )
    .action(action(runtime, z.object({}), show))
  addActions(ob, runtime, RECURRING_ACTIONS)
  recurring
    .command('preview')
    .description('Preview due dates without a service')
    .argument('<frequency>', 'Frequency, in one of the forms below')
    .requiredOption('--first <time>', 'Time of the first payment')
    .option('--next <time>', 'Day of the second payment, if the frequency leaves it open')
    .option('--final <time>', 'Last possible day of a payment')
    .option('--until <day>', 'Print no dates after this day')
    .option('--count <number>', 'Number of dates, 1 to 1000', '12')
    .addHelpText(
      'after',
      `${FORMS}${TIMES}${HOLIDAYS}\nExamples:\n  svc ob recurring preview IntrvlMnthDay:01:31 --first 2027-01-31\n  svc ob recurring preview EvryWorkgDay --first 2026-12-21 --until 2027-01-08\n  svc ob recurring preview EvryDay --first 2026-12-01T08:30 --count 3 -o csv\n`,
    )
    .action(action(runtime, PreviewOptions, preview))
}

function addCreate(recurring: Command, runtime: Runtime): void {
  const command = recurring
    .command('create')
    .description('Order a recurring payment')
    .requiredOption('--frequency <frequency>', 'Frequency, in one of the forms below')
    .requiredOption('--first <time>', 'Time of the first payment')
    .option('--next <time>', 'Day of the second payment, if the frequency leaves it open')
    .option('--final <time>', 'Last possible day of a payment')
  keyedOrder(
    money(command)
      .requiredOption('--to <account>', "Payee's sort code and account number, or IBAN")
      .option('--name <name>', 'Name of the payee')
      .option('--reference <text>', "Reference on the payee's statement, at most 35 characters")
      .option('--from <account>', 'Account that pays: its number or id (the first of the currency)'),
  )
    .addHelpText(
      'after',
      `${FORMS}${TIMES}\nExamples:\n  svc ob recurring create --frequency IntrvlMnthDay:01:01 --first 2027-01-01 --amount 850.00 --currency GBP --to 20000055779911 --reference rent\n  svc ob recurring create --frequency EvryDay --first now --final 2026-12-24 --amount 1 --currency GBP --to 20000055779911\n`,
    )
    .action(action(runtime, CreateRecurringOptions, create))
}
