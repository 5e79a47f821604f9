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
  const payments = payer.command('payments').helpCommand(false).description("the payer's payments")
  payments
    .command('list')
    .description('list the last 50 payments, to whichever merchants')
    .addHelpText('after', '\nExamples:\n  svc payer payments list\n  svc payer payments list -o csv > payments.csv\n')
    .action(action(runtime, z.object({}), listPayments))
  payer
    .command('show')
    .description('show the receipt of a payment')
    .argument('<payment>', PAYMENT)
    .addHelpText('after', '\nExamples:\n  svc payer show a2b4358c\n  svc payer show a2b4358c -q end_to_end_id\n')
    .action(action(runtime, z.object({}), show))
  addAction(payer, runtime, payerDispute, { client: ({ client, io }) => asPayer(client(), io.env) })
}

function addSignIn(payer: Command, runtime: Runtime): void {
  changing(payer.command('link'))
    .description('have a link to sign in with sent; the answer is the same to everybody')
    .argument('<contact>', 'an e-mail address, or a phone number with country code')
    .addHelpText('after', '\nExamples:\n  svc payer link ada@example.org\n  svc payer link +447700900123\n')
    .action(action(runtime, ChangeOptions, link))
  payer
    .command('verify')
    .description('sign in with a link, or the token in it; the session lasts 15 minutes')
    .argument('[link]', '- is standard input, so that the link stays out of the history of the shell')
    .option('--from-mail <contact>', "in the sandbox: the newest link in the outbox's mail to this contact")
    .option('--wait <duration>', 'with --from-mail: how long to wait for it', '10s')
    .addHelpText(
      'after',
      '\nExamples:\n  svc payer verify\n  svc payer verify - < link.txt\n  svc payer verify --from-mail ada@example.org\n',
    )
    .action(action(runtime, VerifyOptions, verify))
  payer
    .command('whoami')
    .description('say which payer is signed in; exit code 4 when none is')
    .addHelpText('after', '\nExamples:\n  svc payer whoami\n')
    .action(action(runtime, z.object({}), whoami))
  payer
    .command('logout')
    .description("end the payer's session, here and at the service")
    .addHelpText('after', '\nExamples:\n  svc payer logout\n')
    .action(action(runtime, z.object({}), logout))
}

const PAYMENT = "the payment's id, or its last 8 characters or more"

const HELP = `
Examples:
  svc payer link ada@example.org
  svc payer verify               asks for the link
  svc payer payments list
  svc mandates list --as-payer
`
