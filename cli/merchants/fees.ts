import type { Command } from 'commander'
import { z } from 'zod'
import { dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { SetOptions, show, set } from './fees-change.ts'
import { aboutMerchant } from './commands.ts'

/** `svc fees`: what merchants pay for their payments. */
export function addFees(fees: Command, runtime: Runtime): void {
  fees.addHelpText(
    'after',
    '\nExamples:\n  svc fees show acme-ltd\n  svc fees set acme-ltd --percentage 1.25% --reason "contract of 2027"\n',
  )
  aboutMerchant(fees.command('show'))
    .description("show a merchant's fees, with their changes")
    .addHelpText('after', '\nExamples:\n  svc fees show acme-ltd\n  svc fees show acme-ltd -q history[0].changed_by\n')
    .action(action(runtime, z.object({}), show))
  dangerous(aboutMerchant(fees.command('set')))
    .description("set a merchant's fees for the payments to come; those that are there keep theirs")
    .option('--percentage <share>', 'of the amount: 1.25%, or as the fraction 0.0125')
    .option('--flat <amount>', 'for each payment, in its currency: 0.20')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  svc fees set acme-ltd --percentage 1.25% --reason "contract of 2027"\n  svc fees set acme-ltd --percentage 0 --flat 0.50 --reason "flat price"\n',
    )
    .action(action(runtime, SetOptions, set))
}
