import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from './sql.ts'

/** A table that is read in parts, so that no statement reads all of it. */
export type Parted = {
  table: readonly [table: string] | readonly [schema: string, table: string]
  /** The columns of an index, in its order, by which the rows are cut. Rows of one key are in one part. */
  key: readonly KeyColumn[]
  /** The rows that are read, where these are not all. */
  where?: FragmentSqlToken
}

/** The type is that of the column: PostgreSQL finds no `char` by a `text`. */
export type KeyColumn = { name: string; type: 'uuid' | 'text' | 'bpchar' | 'int8' }

/** The values of a row's key, in order. */
export type PartKey = readonly string[]

/** The rows after a key, up to another; null is the beginning, and the end. */
export type KeyRange = { after: PartKey | null; upTo: PartKey | null }

/** That a row is in a part. */
export function isIn({ key, where }: Parted, { after, upTo }: KeyRange): FragmentSqlToken {
  return sql.fragment`(${where ?? sql.fragment`true`}) and (${isBetween(key, after, upTo)})`
}

/**
 * Column by column, and not as a row: PostgreSQL estimates a comparison of rows by the first column alone, which may be
 * the same in half of the table, and would read the whole table for each part.
 */
function isBetween(key: readonly KeyColumn[], after: PartKey | null, upTo: PartKey | null): FragmentSqlToken {
  const [column, ...rest] = key
  if (column === undefined || (after === null && upTo === null)) return sql.fragment`true`
  const name = sql.identifier([column.name])
  const restAfter = after?.slice(1) ?? null
  const restUpTo = upTo?.slice(1) ?? null
  const isFirst = after === null ? null : sql.fragment`${name} = ${typed(column, after[0])}`
  const isLast = upTo === null ? null : sql.fragment`${name} = ${typed(column, upTo[0])}`
  if (rest.length > 0 && isFirst !== null && isLast !== null && after?.[0] === upTo?.[0])
    return sql.fragment`${isFirst} and (${isBetween(rest, restAfter, restUpTo)})`
  const last = rest.length === 0 ? sql.fragment`<=` : sql.fragment`<`
  const middle = [
    ...(after === null ? [] : [sql.fragment`${name} > ${typed(column, after[0])}`]),
    ...(upTo === null ? [] : [sql.fragment`${name} ${last} ${typed(column, upTo[0])}`]),
  ]
  const ranges = [sql.fragment`(${sql.join(middle, sql.fragment` and `)})`]
  if (rest.length > 0 && isFirst !== null)
    ranges.push(sql.fragment`(${isFirst} and (${isBetween(rest, restAfter, null)}))`)
  if (rest.length > 0 && isLast !== null)
    ranges.push(sql.fragment`(${isLast} and (${isBetween(rest, null, restUpTo)}))`)
  return sql.fragment`${sql.join(ranges, sql.fragment` or `)}`
}

function typed({ type }: KeyColumn, value = ''): FragmentSqlToken {
  return sql.fragment`${value}::${sql.identifier([type])}`
}

/** The key's columns, as a list. */
export function namesOf({ key }: Pick<Parted, 'key'>): FragmentSqlToken {
  const names = key.map(({ name }) => sql.identifier([name]))
  return sql.fragment`${sql.join(names, sql.fragment`, `)}`
}

/** The key of a row, as an array of texts. */
export function keyOf({ key }: Pick<Parted, 'key'>): FragmentSqlToken {
  const texts = key.map(({ name }) => sql.fragment`${sql.identifier([name])}::text`)
  return sql.fragment`array[${sql.join(texts, sql.fragment`, `)}]`
}

/** The key of the last row of the part that begins after a key, or null where so many rows are not left. */
export function findPartEnd(
  tx: CommonQueryMethods,
  { of, after, rows }: { of: Parted; after: PartKey | null; rows: number },
): Promise<PartKey | null> {
  const values = of.key.map((column, index) => typed(column, after?.[index]))
  // A row here, which the index finds its first row by; and no brackets for the order: a row as a whole has no index.
  const isAfter =
    after === null ? sql.fragment`true` : sql.fragment`(${namesOf(of)}) > (${sql.join(values, sql.fragment`, `)})`
  return tx.maybeOneFirst(sql.type(z.object({ key: z.array(z.string()) }))`
    select ${keyOf(of)} as key
    from ${sql.identifier([...of.table])}
    where (${of.where ?? sql.fragment`true`}) and ${isAfter}
    order by ${namesOf(of)}
    offset ${rows - 1}
    limit 1
  `)
}
