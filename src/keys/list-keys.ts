import type { KeysApp } from './reseal.ts'
import { SEALED_COLUMNS, nameOf } from './sealed-columns.ts'
import { countKids } from './sql.ts'

/** A master key by its id, and what is sealed under it. `unknown` is none of those that are configured. */
export type ListedKey = {
  kid: string
  state: 'current' | 'previous' | 'unknown'
  /** How many values are sealed under it that stay: while there are any, it is needed. */
  values: number
  /** How many expire by themselves, and would open under no other key. */
  expiring: number
  /** The same, column by column; without those that hold none. */
  columns: Readonly<Record<string, number>>
}

const EXPIRING = new Set(SEALED_COLUMNS.filter(({ context }) => context === null).map((column) => nameOf(column)))

/** The keys that are configured, and those that something was sealed under and nobody has configured. */
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

/** Whether something would be lost with the keys that are configured: it is sealed under another one. */
export function hasUnknownKey(keys: readonly ListedKey[]): boolean {
  return keys.some(({ state, values }) => state === 'unknown' && values > 0)
}

/** How many values still need a key before the current one. */
export function countUnderPreviousKeys(keys: readonly ListedKey[]): number {
  return keys.filter(({ state }) => state === 'previous').reduce((total, { values }) => total + values, 0)
}
