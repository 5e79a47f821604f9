import type { KeysApp } from './reseal.ts'
import { SEALED_COLUMNS, nameOf } from './sealed-columns.ts'
import { countKids } from './sql.ts'

/** A master key by its id, with the values sealed with it. `unknown` keys are not configured. */
export type ListedKey = {
  kid: string
  state: 'current' | 'previous' | 'unknown'
  /** Number of permanent values sealed with it: while there are any, the key is needed. */
  values: number
  /** Number of values that expire by themselves and can't be resealed. */
  expiring: number
  /** The same by column; empty columns are left out. */
  columns: Readonly<Record<string, number>>
}

const EXPIRING = new Set(SEALED_COLUMNS.filter(({ context }) => context === null).map((column) => nameOf(column)))

/** The configured keys, and unknown keys that values were sealed with. */
export async function listKeys({ pool, sealer }: KeysApp): Promise<readonly ListedKey[]> {
  const counts = await countKids(pool, SEALED_COLUMNS)
  const byKid = Map.groupBy(counts, ({ kid }) => kid)
  const configured = [sealer.kid, ...sealer.previousKids]
  const unknown = [...byKid.keys()].filter((kid) => !configured.includes(kid)).toSorted()
  return [...configured, ...unknown].map((kid, index) => {
    const columns = Object.fromEntries((byKid.get(kid) ?? []).map(({ column, count }) => [column, Number(count)]))
    const state = index === 0 ? 'current' : index < configured.length ? 'previous' : 'unknown'
    return { kid, state, ...sumsOf(columns), columns }
  })
}

function sumsOf(columns: Readonly<Record<string, number>>): Pick<ListedKey, 'values' | 'expiring'> {
  const sum = (isExpiring: boolean): number =>
    Object.entries(columns)
      .filter(([column]) => EXPIRING.has(column) === isExpiring)
      .reduce((total, [, count]) => total + count, 0)
  return { values: sum(false), expiring: sum(true) }
}

/** Whether values are sealed with a key that is not configured, so that they can't be opened. */
export function hasUnknownKey(keys: readonly ListedKey[]): boolean {
  return keys.some(({ state, values }) => state === 'unknown' && values > 0)
}

/** Number of values that still need a previous key. */
export function countUnderPreviousKeys(keys: readonly ListedKey[]): number {
  return keys.filter(({ state }) => state === 'previous').reduce((total, { values }) => total + values, 0)
}
