import type { Command } from 'commander'
import { changing } from '../kit/change.ts'
import { collect } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { AdvanceOptions, ShowOptions, advance, set, show } from './clock.ts'

const MERCHANT = 'whose time it is: its id, realm or client id (the demo merchant)'

/** `svc sandbox clock`: time that passes for some and not for others. */
export function addClock(sandbox: Command, runtime: Runtime): void {
  const clock = sandbox.command('clock').helpCommand(false).description('let time pass, and see how far it has')
  subjects(clock.command('advance').argument('<duration>', 'such as 90s, 5m, 11h or 7d'))
    .description('let time pass for a merchant or customers; what becomes due on the way happens, in its order')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox clock advance 11h\n  svc sandbox clock advance 2h --merchant acme-ltd\n  svc sandbox clock advance 31d --customer customer-demo\n',
    )
    .action(action(runtime, AdvanceOptions, advance))
  subjects(clock.command('set').argument('<moment>', 'with its time zone, such as 2027-01-31T09:00:00Z'))
    .description('let time pass up to a moment; it does not go back')
    .addHelpText('after', '\nExamples:\n  svc sandbox clock set 2027-01-31T09:00:00Z --merchant acme-ltd\n')
    .action(action(runtime, AdvanceOptions, set))
  clock
    .command('show')
    .description('show how far the time of a merchant or a customer is ahead')
    .option('--merchant <merchant>', MERCHANT)
    .option('--customer <id>', 'a customer of the bank, in its place')
    .addHelpText('after', '\nExamples:\n  svc sandbox clock show\n  svc sandbox clock show --customer customer-demo\n')
    .action(action(runtime, ShowOptions, show))
}

function subjects(command: Command): Command {
  return changing(command)
    .option('--merchant <merchant>', MERCHANT)
    .option('--customer <id>', 'a customer of the bank, with it or alone; may be repeated', collect)
}
