import type { Command } from 'commander'
import { z } from 'zod'
import { dangerous } from '../../kit/change.ts'
import { action } from '../../kit/context.ts'
import type { Runtime } from '../../kit/context.ts'
import { DropOptions, drop } from './drop.ts'
import { list } from './list.ts'
import { create } from './create.ts'
import { RotateOptions, rotate } from './rotate.ts'

/** `svc keys`: the master keys that secrets are sealed under. */
export function addKeys(keys: Command, runtime: Runtime): void {
  keys.addHelpText('after', `${SOURCE}\nExamples:\n  svc keys list\n  svc keys rotate\n`)
  keys
    .command('list')
    .description('list the keys by their ids, with how much is sealed under each; exit code 1 if a key is missing')
    .addHelpText('after', LIST_HELP)
    .action(action(runtime, z.object({}), list))
  keys
    .command('create')
    .description('print a fresh key, which is kept nowhere')
    .addHelpText('after', '\nExamples:\n  svc keys create -o id\n')
    .action(action(runtime, z.object({}), create))
  dangerous(keys.command('rotate'), 'say what would be done, and change nothing')
    .description(
      'change to a new key (state directory), or encrypt everything anew under the current one (environment)',
    )
    .addHelpText('after', ROTATE_HELP)
    .action(action(runtime, RotateOptions, rotate))
  dangerous(keys.command('drop'), 'say what would be forgotten, and change nothing')
    .description('forget a previous key of the state directory that nothing is sealed under any more')
    .argument('<kid>', 'its id, as svc keys list names it')
    .addHelpText('after', '\nExamples:\n  svc keys drop 4f7a1c9e\n')
    .action(action(runtime, DropOptions, drop))
}

const SOURCE = `
Where SVC_ENCRYPTION_KEY is set, the keys are that one and SVC_ENCRYPTION_KEY_PREVIOUS; otherwise those that svc up keeps
in master.key of its state directory. The database is SVC_DATABASE_URL, or that of the running svc up. A key is told by
its id and never shown.
`

const LIST_HELP = `${SOURCE}
"Values" need the key as long as there are any. What is "expiring" (sign-ins) opens under no other key and ends by itself.

Examples:
  svc keys list
  svc keys list --json
`

const ROTATE_HELP = `${SOURCE}
With the state directory: makes a new key and keeps the old one beside it. A running svc up goes on with the old key, and
nothing is sealed under the new one before the next start, which opens both and encrypts the rest anew in the background.
  svc keys rotate; svc down; svc up; svc keys list; svc keys drop <kid>

With the environment: encrypts what is sealed under a previous key anew under SVC_ENCRYPTION_KEY, beside the running
service; exit code 0 once nothing is left. Every running process must know the new key before anything is sealed under it:
  1. deploy SVC_ENCRYPTION_KEY=<old> SVC_ENCRYPTION_KEY_PREVIOUS=<new>
  2. deploy SVC_ENCRYPTION_KEY=<new> SVC_ENCRYPTION_KEY_PREVIOUS=<old>
  3. the worker does the rest in the background, or this command at once; svc keys list tells when it is done
  4. deploy without the old one

People sign in anew after a change of keys, and the demo logins of svc up are new ones.

Examples:
  svc keys rotate
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... SVC_ENCRYPTION_KEY_PREVIOUS=... svc keys rotate
`
