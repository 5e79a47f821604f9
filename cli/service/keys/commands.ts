import type { Command } from 'commander'
import { z } from 'zod'
import type { ListedKey } from '../../../src/keys/list-keys.ts'
import { generateMasterKey, kidOfKey } from '../../../src/lib/seal.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { ChangeOptions, dangerous } from '../../kit/change.ts'
import { action } from '../../kit/context.ts'
import type { CommandResult, Context, Runtime } from '../../kit/context.ts'
import { databaseOf, keysOf, rotate, withDatabase } from './rotate.ts'
import type { Keys } from './rotate.ts'
import { subcommand } from '../../kit/option-values.ts'

export function addKeys(config: Command, runtime: Runtime): void {
  const keys = subcommand(config, 'keys', 'Manage the master keys that seal secrets')
  keys.addHelpText('after', `${SOURCE}\nExamples:\n  svc config keys list\n  svc config keys rotate\n`)
  subcommand(keys, 'list', 'List keys by id, with how much each one seals')
    .addHelpText('after', LIST_HELP)
    .action(action(runtime, z.object({}), list))
  subcommand(keys, 'create', 'Print a new key without storing it')
    .addHelpText('after', '\nExamples:\n  svc config keys create -o id\n')
    .action(action(runtime, z.object({}), create))
  dangerous(subcommand(keys, 'rotate', 'Rotate the master key'), 'Show what would be done, and change nothing')
    .addHelpText('after', ROTATE_HELP)
    .action(action(runtime, ChangeOptions, rotate))
}

const SOURCE = `
Where SVC_ENCRYPTION_KEY is set, the keys are that one and SVC_ENCRYPTION_KEY_PREVIOUS; otherwise those that svc up keeps
in master.key of its state directory. The database is SVC_DATABASE_URL, or that of the running svc up. Keys are named by
their ids and never shown.
`

const LIST_HELP = `${SOURCE}
A key with "values" is still needed. "Expiring" values (sign-ins) need no rotation. Exit code 1 if a key is missing.

Examples:
  svc config keys list
  svc config keys list --json
`

const ROTATE_HELP = `${SOURCE}
With the state directory: creates a new key and keeps the old one beside it. A running svc up continues with the old key.
The next start uses the new key, opens values of both, and encrypts the rest again in the background.
  svc config keys rotate; svc down; svc up; svc config keys list

With the environment: encrypts the values of a previous key again under SVC_ENCRYPTION_KEY, beside the running
service; exit code 0 once nothing is left. Every running process must know the new key before anything is sealed under it:
  1. deploy SVC_ENCRYPTION_KEY=<old> SVC_ENCRYPTION_KEY_PREVIOUS=<new>
  2. deploy SVC_ENCRYPTION_KEY=<new> SVC_ENCRYPTION_KEY_PREVIOUS=<old>
  3. the worker does the rest in the background, or this command at once; svc config keys list shows when it is done
  4. deploy without the old one

After a change of keys people sign in again, and svc up has new demo logins.

Examples:
  svc config keys rotate
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... SVC_ENCRYPTION_KEY_PREVIOUS=... svc config keys rotate
`

async function create(context: Context): Promise<CommandResult> {
  const key = generateMasterKey()
  const kid = kidOfKey(key)
  context.print.record({
    item: { kid, key },
    id: key,
    lines: [
      ['Kid', kid],
      ['Key', key],
    ],
  })
  context.note('It is kept nowhere: whoever has it and the database can read every secret.')
}

async function list(context: Context): Promise<CommandResult> {
  const keys = await keysOf(context)
  const { listKeys } = await import('../../../src/keys/list-keys.ts')
  const listed = await withDatabase(keys, databaseOf(keys), (app) => listKeys(app))
  printKeys(context, listed)
  noteRunning(context, keys)
  if (!listed.some(({ state, values }) => state === 'unknown' && values !== 0)) return undefined
  context.note('A key is missing: what is sealed under an unknown one can not be read.')
  return EXIT.failure
}

function printKeys({ print }: Context, items: readonly ListedKey[]): void {
  print.list({
    items,
    fields: ['kid', 'state', 'values', 'expiring', 'columns'],
    columns: [
      { title: 'kid', value: (row) => row.kid },
      { title: 'state', value: (row) => row.state, style: (state) => (state === 'unknown' ? 'red' : 'green') },
      { title: 'values', value: (row) => String(row.values), align: 'right' },
      { title: 'expiring', value: (row) => String(row.expiring), align: 'right' },
      { title: 'where', value: ({ columns }) => whereText(columns), dropped: 1, least: 20 },
    ],
    id: (row) => row.kid,
    empty: 'There are no keys.',
  })
}

function whereText(columns: Readonly<Record<string, number>>): string {
  return Object.entries(columns)
    .map(([column, count]) => `${column} ${count}`)
    .join(', ')
}

/** A service that began before the last rotation still seals under the key before. */
function noteRunning(context: Context, { source, sealer }: Keys): void {
  const sealsUnder = source === 'environment' ? undefined : runningState(context.stateDir)?.key_id
  if (sealsUnder === undefined || sealsUnder === sealer.kid) return
  context.note(`The running service still seals under ${sealsUnder}. To take the new key: svc down, and then svc up`)
}
