import type { Command } from 'commander'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { collect, subcommand } from '../kit/option-values.ts'
import { AdvanceOptions, ShowOptions, advance, set, show } from './clock.ts'

const MERCHANT = 'Merchant: its id, realm or client id (the demo merchant)'

export function addClock(sandbox: Command, runtime: Runtime): void {
  const clock = sandbox.command('clock').helpCommand(false).description('Show and advance the sandbox clock')
  subjects(clock.command('advance').argument('<duration>', 'Duration, such as 90s, 5m, 11h or 7d'))
    .description('Advance the sandbox clock')
    .addHelpText(
      'after',
      '\nWhat becomes due in that time happens, in its order.\n\nExamples:\n  svc sandbox clock advance 11h\n  svc sandbox clock advance 2h --merchant acme-ltd\n  svc sandbox clock advance 31d --customer customer-demo\n',
    )
    .action(action(runtime, AdvanceOptions, advance))
  subjects(clock.command('set').argument('<moment>', 'Time with its zone, such as 2027-01-31T09:00:00Z'))
    .description('Advance the sandbox clock to a given time')
    .addHelpText(
      'after',
      '\nThe clock cannot go back.\n\nExamples:\n  svc sandbox clock set 2027-01-31T09:00:00Z --merchant acme-ltd\n',
    )
    .action(action(runtime, AdvanceOptions, set))
  subcommand(clock, 'show', 'Show the sandbox clock of a merchant or a customer')
    .option('--merchant <merchant>', MERCHANT)
    .option('--customer <id>', 'Customer of the bank, instead of a merchant')
    .addHelpText('after', '\nExamples:\n  svc sandbox clock show\n  svc sandbox clock show --customer customer-demo\n')
    .action(action(runtime, ShowOptions, show))
}

function subjects(command: Command): Command {
  return changing(command)
    .option('--merchant <merchant>', MERCHANT)
    .option('--customer <id>', 'Customer of the bank, with --merchant or alone; may be repeated', collect)
}
