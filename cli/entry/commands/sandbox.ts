import type { Command } from 'commander'
import { addMail } from '../../mail/commands.ts'
import { ChangeOptions, dangerous } from '../../kit/change.ts'
import { action } from '../../kit/context.ts'
import type { Runtime } from '../../kit/context.ts'
import { addBank } from '../../sandbox/bank.ts'
import { addDial } from '../../sandbox/bank-fault.ts'
import { reset } from '../../scenario/commands/reset.ts'
import { addClock } from '../../sandbox/clock.ts'
import { addRun, addScenarios } from '../../scenario/commands/add.ts'
import { subcommand } from '../../kit/option-values.ts'

export function addSandbox(sandbox: Command, runtime: Runtime): void {
  addRun(subcommand(sandbox, 'run', 'Run scenarios'), runtime)
  addScenarios(sandbox, runtime)
  addClock(sandbox, runtime)
  addDial(sandbox, runtime)
  addBank(sandbox, runtime)
  addMail(sandbox, runtime)
  dangerous(subcommand(sandbox, 'reset', 'Stop the service and delete its database'))
    .addHelpText(
      'after',
      '\nDeletes merchants, payments and the audit trail of the state directory.\n\nExamples:\n  svc sandbox reset --dry-run\n  svc sandbox reset --yes && svc up --seed demo\n',
    )
    .action(action(runtime, ChangeOptions, reset))
}
