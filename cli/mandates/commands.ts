import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { ConsentStatus } from '../../src/wire/payments.ts'
import { ChangeOptions, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { end } from './end.ts'
import { ListOptions, list, show } from './read.ts'
import { paged } from '../kit/paging.ts'

/** `svc mandates`: what payers have allowed a merchant to take again and again (decision 49). */
export function addMandates(mandates: Command, runtime: Runtime): void {
  mandates.addHelpText('after', HELP)
  paged(
    mandates
      .command('list')
      .description('list the mandates, the newest first')
      .addOption(new Option('--status <status>', 'only in this status').choices(ConsentStatus.options)),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc mandates list --status AUTHORISED\n  svc mandates list --all -o csv > mandates.csv\n',
    )
    .action(action(runtime, ListOptions, list))
  mandates
    .command('show')
    .description('show a mandate with what is left of its caps')
    .argument('<mandate>', MANDATE)
    .addHelpText('after', '\nExamples:\n  svc mandates show a2b4358c\n  svc mandates show a2b4358c -q status\n')
    .action(action(runtime, z.object({}), show))
  dangerous(mandates.command('end'))
    .description('end a mandate: no further payment is made under it, and it does not come back')
    .argument('<mandate>', MANDATE)
    .addHelpText('after', '\nExamples:\n  svc mandates end a2b4358c\n')
    .action(action(runtime, ChangeOptions, end))
}

const MANDATE = "the mandate's id (consent_id), or its last 8 characters or more"

const HELP = `
A mandate is set up with its first payment, which its payer approves at the bank; later payments name it.

Examples:
  svc payments create --amount 9.99 --currency GBP --mandate --max-amount 20.00
  svc mandates list
  svc payments create --amount 9.99 --currency GBP --consent a2b4358c
`
