import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { ConsentStatus } from '../../src/wire/payments.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { addAction, addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { MANDATE_ACTIONS, PAYER_MANDATE_ACTIONS, mandate } from './actions.ts'
import { ListOptions, list, show } from './read.ts'
import { DataOption } from '../kit/option-values.ts'
import { paged } from '../kit/paging.ts'

/** `svc mandates`: what payers have allowed a merchant to take again and again (decision 49). */
export function addMandates(mandates: Command, runtime: Runtime): void {
  mandates.addHelpText('after', HELP)
  paged(
    mandates
      .command('list')
      .description('List mandates, newest first')
      .addOption(new Option('--status <status>', 'Filter by status').choices(ConsentStatus.options))
      .addOption(
        new DataOption('--as-payer', 'List mandates that the signed-in payer can cancel (svc payer verify)').conflicts([
          'status',
          'cursor',
        ]),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc mandates list --status AUTHORISED\n  svc mandates list --all -o csv > mandates.csv\n  svc mandates list --as-payer\n',
    )
    .action(action(runtime, ListOptions, list))
  mandates
    .command('show')
    .description('Show a mandate and what is left of its caps')
    .argument('<mandate>', mandate.summary)
    .addHelpText('after', '\nExamples:\n  svc mandates show a2b4358c\n  svc mandates show a2b4358c -q status\n')
    .action(action(runtime, z.object({}), show))
  addActions(mandates, runtime, MANDATE_ACTIONS)
  for (const each of PAYER_MANDATE_ACTIONS)
    addAction(mandates, runtime, each, { client: (context) => asPayer(context.client(), context.io.env) })
}

const HELP = `
A mandate is set up with its first payment, which its payer approves at the bank; later payments name it.

Examples:
  svc payments create --amount 9.99 --currency GBP --mandate --max-amount 20.00
  svc mandates list
  svc payments create --amount 9.99 --currency GBP --consent a2b4358c
`
