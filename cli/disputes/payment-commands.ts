import type { Command } from 'commander'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { raising } from './commands.ts'
import { DisputeOptions, dispute } from './raise.ts'

/** `svc payments dispute`: it is about a payment, and what it makes is a dispute. */
export function addPaymentDispute(payments: Command, runtime: Runtime): void {
  changing(raising(payments.command('dispute')))
    .description('dispute a settled or refunded payment as its merchant')
    .addHelpText(
      'after',
      '\nTo see the disputes of a payment: svc portal disputes list --payment a2b4358c\n\nExamples:\n  svc payments dispute a2b4358c --reason DUPLICATE_PAYMENT --statement "the payer paid this order twice"\n',
    )
    .action(action(runtime, DisputeOptions, dispute))
}
