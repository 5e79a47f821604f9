import type { ListedKey } from '../../../src/keys/list-keys.ts'
import { generateMasterKey, kidOfKey } from '../../../src/lib/seal.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { command } from '../../kit/command.ts'
import type { Context } from '../../kit/context.ts'
import { KEYS_PLACE, keysOf, rotate, withDatabase } from './rotate.ts'
import type { Keys } from './rotate.ts'
import { databaseOf } from '../with-pool.ts'

const create = command({
  command: 'config keys create',
  summary: 'Print a new key without storing it',
  examples: ['svc config keys create -o id'],
  flags: {},
  async run(context) {
    const key = generateMasterKey()
    const kid = kidOfKey(key)
    context.print.record(
      { kid, key },
      [
        ['Kid', kid],
        ['Key', key],
      ],
      { id: key },
    )
    context.note('It is stored nowhere: with it and the database, every secret can be read.')
  },
})

const list = command({
  command: 'config keys list',
  summary: 'List keys by id, with how much each one seals',
  details: `${KEYS_PLACE}

A key with "values" is still needed. "Expiring" values (sign-ins) need no rotation. Exit code 1 if a key is missing.`,
  examples: ['svc config keys list', 'svc config keys list --json'],
  flags: {},
  async run(context) {
    const keys = await keysOf(context)
    const { listKeys } = await import('../../../src/keys/list-keys.ts')
    const listed = await withDatabase(keys, databaseOf(context), (app) => listKeys(app))
    printKeys(context, listed)
    noteRunning(context, keys)
    if (!listed.some(({ state, values }) => state === 'unknown' && values !== 0)) return undefined
    context.note('A key is missing: what is sealed under an unknown one can not be read.')
    return EXIT.failure
  },
})

function printKeys({ print }: Context, items: readonly ListedKey[]): void {
  print.list(items, {
    fields: ['kid', 'state', 'values', 'expiring', 'columns'],
    columns: [
      { title: 'kid', value: (row) => row.kid },
      { title: 'state', value: (row) => row.state, style: (state) => (state === 'unknown' ? 'red' : 'green') },
      { title: 'values', value: (row) => String(row.values), align: 'right' },
      { title: 'expiring', value: (row) => String(row.expiring), align: 'right' },
      { title: 'where', value: ({ columns }) => whereText(columns), dropped: 1, least: 20 },
    ],
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

export const KEYS = [
  {
    command: 'config keys',
    summary: 'Manage the master keys that seal secrets',
    details: KEYS_PLACE,
    examples: ['svc config keys list', 'svc config keys rotate'],
  },
  list,
  create,
  rotate,
]
