import { findPartEnd } from '../db/parts-sql.ts'
import { PART_ROWS } from './reseal.ts'
import type { KeysApp } from './reseal.ts'
import { SEALED_COLUMNS, nameOf } from './sealed-columns.ts'
import type { RowKey, SealedColumn } from './sealed-columns.ts'
import { countKids } from './sql.ts'
import type { KidCount } from './sql.ts'

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
export async function listKeys({ pool, sealer }: KeysApp, partRows = PART_ROWS): Promise<readonly ListedKey[]> {
  const counts: KidCount[] = []
  for (const column of SEALED_COLUMNS) counts.push(...(await countColumn(pool, column, partRows)))
  const byKid = Map.groupBy(counts, ({ kid }) => kid)
  const configured = [sealer.kid, ...sealer.previousKids]
  const unknown = [...byKid.keys()].filter((kid) => !configured.includes(kid)).toSorted()
  return [...configured, ...unknown].map((kid, index) => {
    const columns: Record<string, number> = {}
    for (const { column, count } of byKid.get(kid) ?? []) columns[column] = (columns[column] ?? 0) + Number(count)
    const state = index === 0 ? 'current' : index < configured.length ? 'previous' : 'unknown'
    return { kid, state, ...sumsOf(columns), columns }
  })
}

/** In parts, so that no statement reads a column of all payments. */
async function countColumn(pool: KeysApp['pool'], column: SealedColumn, rows: number): Promise<KidCount[]> {
  const counts: KidCount[] = []
  let upTo: RowKey | null = null
  do {
    const after: RowKey | null = upTo
    upTo = await findPartEnd(pool, { of: column, after, rows })
    counts.push(...(await countKids(pool, { column, after, upTo })))
  } while (upTo !== null)
  return counts
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
