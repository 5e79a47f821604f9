import type { Command } from 'commander'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ListOptions, ShowOptions, list, show } from './read.ts'

/** `svc mail`: what the sandbox would have sent. It is how a developer opens an invitation. */
export function addMail(mail: Command, runtime: Runtime): void {
  mail.addHelpText('after', '\nExamples:\n  svc mail show --recipient ada@acme.example --links --wait 10s\n')
  mail
    .command('list')
    .description('list the last 50 mails, the newest first')
    .option('--recipient <address>', 'only those to this address')
    .addHelpText('after', '\nExamples:\n  svc mail list\n  svc mail list --recipient ada@acme.example\n')
    .action(action(runtime, ListOptions, list))
  mail
    .command('show')
    .description('print a mail with the links in it; the newest one where none is named')
    .argument('[mail]', 'its id, or the last 8 characters of that or more')
    .option('--recipient <address>', 'the newest one to this address')
    .option('--links', 'print the links alone, one on each line')
    .option('--wait <duration>', 'how long to wait for it to come', '0s')
    .addHelpText(
      'after',
      '\nExamples:\n  svc mail show --links\n  svc mail show --recipient ada@acme.example --links --wait 10s\n',
    )
    .action(action(runtime, ShowOptions, show))
}
