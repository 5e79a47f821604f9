import type { Command } from 'commander'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ListOptions, ShowOptions, list, show } from './read.ts'

/** `svc mail`: what the sandbox would have sent. It is how a developer opens an invitation. */
export function addMail(mail: Command, runtime: Runtime): void {
  mail.addHelpText('after', '\nExamples:\n  svc mail show --recipient ada@acme.example --links --wait 10s\n')
  mail
    .command('list')
    .description('List the last 50 mails, newest first')
    .option('--recipient <address>', 'Filter by recipient')
    .addHelpText('after', '\nExamples:\n  svc mail list\n  svc mail list --recipient ada@acme.example\n')
    .action(action(runtime, ListOptions, list))
  mail
    .command('show')
    .description('Print a mail and its links')
    .argument('[mail]', 'Its id, or at least its last 8 characters (the newest)')
    .option('--recipient <address>', 'Newest mail to this address')
    .option('--links', 'Print only the links, one per line')
    .option('--wait <duration>', 'Wait this long for it to arrive', '0s')
    .addHelpText(
      'after',
      '\nExamples:\n  svc mail show --links\n  svc mail show --recipient ada@acme.example --links --wait 10s\n',
    )
    .action(action(runtime, ShowOptions, show))
}
