import type { ListedKey } from '../../../src/keys/list-keys.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { keysOf, withDatabase } from './open.ts'
import type { Keys } from './open.ts'

/** As `ListedKey`; null where there is no database to count in. */
type ShownKey = Pick<ListedKey, 'kid' | 'state'> & {
  [Name in 'values' | 'expiring' | 'columns']: ListedKey[Name] | null
}

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const keys = await keysOf(context)
  const listed = await readKeyCounts(keys)
  printKeys(context, listed)
  if (keys.databaseUrl === undefined) context.note('Nothing was counted, for no database runs here: svc up')
  else noteRunning(context, keys)
  if (!listed.some(({ state, values }) => state === 'unknown' && values !== 0)) return undefined
  context.note('A key is missing: what is sealed under an unknown one can not be read.')
  return EXIT.failure
}

async function readKeyCounts(keys: Keys): Promise<readonly ShownKey[]> {
  const { databaseUrl, sealer } = keys
  if (databaseUrl === undefined) {
    const unknownCounts = { values: null, expiring: null, columns: null }
    return [sealer.kid, ...sealer.previousKids].map((kid, index) => ({
      kid,
      state: index === 0 ? 'current' : 'previous',
      ...unknownCounts,
    }))
  }
  const { listKeys } = await import('../../../src/keys/list-keys.ts')
  return withDatabase(keys, databaseUrl, (app) => listKeys(app))
}

function printKeys({ print }: Context, items: readonly ShownKey[]): void {
  print.list({
    items,
    fields: ['kid', 'state', 'values', 'expiring', 'columns'],
    columns: [
      { title: 'kid', value: (row) => row.kid },
      { title: 'state', value: (row) => row.state, style: (state) => (state === 'unknown' ? 'red' : 'green') },
      { title: 'values', value: (row) => countText(row.values), align: 'right' },
      { title: 'expiring', value: (row) => countText(row.expiring), align: 'right' },
      { title: 'where', value: ({ columns }) => whereText(columns ?? {}), dropped: 1, least: 20 },
    ],
    id: (row) => row.kid,
    empty: 'There are no keys.',
  })
}

function countText(count: number | null): string {
  return count === null ? '' : String(count)
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
