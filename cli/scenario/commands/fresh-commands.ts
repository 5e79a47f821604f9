import type { Command } from 'commander'
import { ChangeOptions, changing, dangerous } from '../../kit/change.ts'
import { action } from '../../kit/context.ts'
import type { Runtime } from '../../kit/context.ts'
import { InitOptions, init } from './init.ts'
import { reset } from './reset.ts'

/** How a project begins, and how its sandbox begins anew. */
export function addFresh(sandbox: Command, runtime: Runtime): void {
  changing(sandbox.command('init'))
    .description('write what a project begins with: a scenario, its schema, .gitignore; never over what is there')
    .argument('[folder]', 'where to (here)')
    .addHelpText('after', '\nExamples:\n  svc sandbox init\n  svc sandbox init shop --dry-run\n')
    .action(action(runtime, InitOptions, init))
  dangerous(sandbox.command('reset'))
    .description("stop the state directory's service and remove its database: merchants, payments, audit, all of it")
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox reset --dry-run\n  svc sandbox reset --yes && svc up --seed demo\n',
    )
    .action(action(runtime, ChangeOptions, reset))
}
