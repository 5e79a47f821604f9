import type { Command } from 'commander'
import { z } from 'zod'
import { asPayer } from '../client/auth/payer-session.ts'
import { addAction } from '../kit/action-command.ts'
import { ChangeOptions, changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { payerDispute } from './dispute.ts'
import { listPayments, show } from './payments.ts'
import { VerifyOptions, link, logout, verify, whoami } from './sign-in.ts'

/** `svc payer`: the payer hub, for those who pay (decisions 25 and 41). */
export function addPayer(payer: Command, runtime: Runtime): void {
  payer.addHelpText('after', HELP)
  addSignIn(payer, runtime)
  const payments = payer.command('payments').helpCommand(false).description("List the payer's payments")
  payments
    .command('list')
    .description("List the payer's last 50 payments")
    .addHelpText('after', '\nExamples:\n  svc payer payments list\n  svc payer payments list -o csv > payments.csv\n')
    .action(action(runtime, z.object({}), listPayments))
  payer
    .command('show')
    .description('Show the receipt of a payment')
    .argument('<payment>', PAYMENT)
    .addHelpText('after', '\nExamples:\n  svc payer show a2b4358c\n  svc payer show a2b4358c -q end_to_end_id\n')
    .action(action(runtime, z.object({}), show))
  addAction(payer, runtime, payerDispute, { client: ({ client, io }) => asPayer(client(), io.env) })
}

function addSignIn(payer: Command, runtime: Runtime): void {
  changing(payer.command('link'))
    .description('Send a sign-in link to a payer')
    .argument('<contact>', 'E-mail address, or phone number with country code')
    .addHelpText(
      'after',
      '\nThe response is the same for unknown contacts.\n\nExamples:\n  svc payer link ada@example.org\n  svc payer link +447700900123\n',
    )
    .action(action(runtime, ChangeOptions, link))
  payer
    .command('verify')
    .description('Sign in with a link or its token')
    .argument('[link]', 'Link or token; - reads it from standard input')
    .option('--from-mail <contact>', 'In the sandbox: the newest link mailed to this contact')
    .option('--wait <duration>', 'With --from-mail: maximum time to wait for the mail', '10s')
    .addHelpText(
      'after',
      '\nThe session lasts 15 minutes. With -, the link stays out of the history of the shell.\n\nExamples:\n  svc payer verify\n  svc payer verify - < link.txt\n  svc payer verify --from-mail ada@example.org\n',
    )
    .action(action(runtime, VerifyOptions, verify))
  payer
    .command('whoami')
    .description('Show which payer is signed in')
    .addHelpText('after', '\nExit code 4 if no payer is signed in.\n\nExamples:\n  svc payer whoami\n')
    .action(action(runtime, z.object({}), whoami))
  payer
    .command('logout')
    .description('Sign out as a payer')
    .addHelpText('after', '\nExamples:\n  svc payer logout\n')
    .action(action(runtime, z.object({}), logout))
}

const PAYMENT = 'Payment id, or at least its last 8 characters'

const HELP = `
Examples:
  svc payer link ada@example.org
  svc payer verify               asks for the link
  svc payer payments list
  svc mandates list --as-payer
`
