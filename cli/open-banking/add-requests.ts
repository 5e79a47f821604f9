import type { Command } from 'commander'
import { z } from 'zod'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { keyedOrder, money } from './options.ts'
import { ObPaging, obPaged } from './pages.ts'
import { AcceptOptions, DecideOptions, requestActions } from './request-actions.ts'
import { CreateOfferOptions, CreateRequestOptions, createOffer, createRequest } from './request-create.ts'
import { OFFERS, REQUESTS } from './requests.ts'

const WHOM = 'an e-mail address, a mobile number (+447700900123), or a proxy id'

/** `svc ob request-to-pay` and `svc ob offer-to-pay`. */
export function addRequests(ob: Command, runtime: Runtime): void {
  addRequestToPay(ob, runtime)
  addOfferToPay(ob, runtime)
}

function addRequestToPay(ob: Command, runtime: Runtime): void {
  const requests = ob
    .command('request-to-pay')
    .helpCommand(false)
    .description('ask somebody for money; pay or reject what others ask for')
    .addHelpText('after', '\nExamples:\n  svc ob request-to-pay list\n  svc ob request-to-pay accept a2b4358c --wait\n')
  keyedOrder(
    money(requests.command('create').description('ask somebody for a payment'))
      .requiredOption('--to <payer>', WHOM)
      .requiredOption('--due <day>', 'until when, such as 2026-12-24, 14d from today, or now')
      .requiredOption('--name <name>', 'who asks, as the payer reads it')
      .option('--reference <text>', 'what for, at most 35 characters'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob request-to-pay create --to grace@example.org --amount 25.00 --currency GBP --due 14d --name Ada --reference tickets\n',
    )
    .action(action(runtime, CreateRequestOptions, createRequest))
  const { list, show, accept, reject } = requestActions(REQUESTS)
  obPaged(requests.command('list').description('list them, made and received, the newest first'))
    .addHelpText('after', '\nExamples:\n  svc ob request-to-pay list\n  svc ob request-to-pay list --all -o csv\n')
    .action(action(runtime, ObPaging, list))
  aboutOne(
    requests.command('show').description('show one, as who made it or who was asked'),
    'request-to-pay show',
  ).action(action(runtime, z.object({}), show))
  accepting(requests.command('accept').description('pay what was asked for'), 'which account pays')
    .addHelpText('after', acceptExamples('request-to-pay'))
    .action(action(runtime, AcceptOptions, accept))
  changing(
    aboutOne(
      requests.command('reject').description('refuse what was asked for, or take back what you asked for'),
      'request-to-pay reject',
    ),
  ).action(action(runtime, DecideOptions, reject))
}

function addOfferToPay(ob: Command, runtime: Runtime): void {
  const offers = ob
    .command('offer-to-pay')
    .helpCommand(false)
    .description('offer somebody money; take or reject what others offer')
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob offer-to-pay list\n  svc ob offer-to-pay accept a2b4358c --account a1b2c3d4\n',
    )
  keyedOrder(
    money(offers.command('create').description('offer somebody a payment'))
      .requiredOption('--to <payee>', WHOM)
      .requiredOption('--name <name>', 'who offers, as the payee reads it')
      .option('--reference <text>', 'what for, at most 35 characters'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob offer-to-pay create --to +447700900123 --amount 25.00 --currency GBP --name Ada\n',
    )
    .action(action(runtime, CreateOfferOptions, createOffer))
  const { list, show, accept, reject } = requestActions(OFFERS)
  obPaged(offers.command('list').description('list them, made and received, the newest first'))
    .addHelpText('after', '\nExamples:\n  svc ob offer-to-pay list\n  svc ob offer-to-pay list --all -o csv\n')
    .action(action(runtime, ObPaging, list))
  aboutOne(
    offers.command('show').description('show one, as who made it or whom it is for'),
    'offer-to-pay show',
  ).action(action(runtime, z.object({}), show))
  accepting(offers.command('accept').description('take what was offered'), 'which account it goes to')
    .addHelpText('after', acceptExamples('offer-to-pay'))
    .action(action(runtime, AcceptOptions, accept))
  changing(
    aboutOne(
      offers.command('reject').description('refuse what was offered, or take back what you offered'),
      'offer-to-pay reject',
    ),
  ).action(action(runtime, DecideOptions, reject))
}

function aboutOne(command: Command, words: string): Command {
  return command
    .argument('<id>', 'its id, or the last 8 characters of it')
    .addHelpText('after', `\nExamples:\n  svc ob ${words} a2b4358c\n`)
}

function accepting(command: Command, account: string): Command {
  return changing(command.argument('<id>', 'its id, or the last 8 characters of it'))
    .option('--account <account>', `${account} (the first one of the currency): its number, or its id`)
    .option('--wait', 'wait until it is paid; exit code 3 if it is rejected')
    .option('--timeout <duration>', 'how long to wait', '30s')
}

function acceptExamples(words: string): string {
  return `\nExamples:\n  svc ob ${words} accept a2b4358c\n  svc ob ${words} accept a2b4358c --account 12345678 --wait\n`
}
