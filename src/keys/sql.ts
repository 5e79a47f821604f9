import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { nameOf } from './sealed-columns.ts'
import type { RowKey, SealedColumn } from './sealed-columns.ts'

const KidCount = z.object({ column: z.string(), kid: z.string(), count: z.bigint() })
export type KidCount = z.infer<typeof KidCount>

const SealedValue = z.object({ key: z.array(z.string()), merchant_id: z.string().nullable(), sealed: z.string() })
export type SealedValue = z.infer<typeof SealedValue>

const SealedSecret = z.object({ id: z.string(), webhook_signing_secret: z.string() })
const ChangedCount = z.object({ count: z.int() })

/** The key id in a sealed text (lib/seal.ts). */
function kidIn(column: string): FragmentSqlToken {
  return sql.fragment`split_part(${sql.identifier([column])}, '.', 2)`
}

/** The rows of a column after one, up to another; null is the beginning, and the end. */
export type SealedPart = { column: SealedColumn; after: RowKey | null; upTo: RowKey | null }

/** Number of values of a part per key. */
export function countKids(tx: CommonQueryMethods, part: SealedPart): Promise<readonly KidCount[]> {
  const { column } = part
  return tx.any(sql.type(KidCount)`
    select ${nameOf(column)}::text as "column", ${kidIn(column.column)} as kid, count(*) as count
    from ${sql.identifier([...column.table])}
    where ${sql.identifier([column.column])} is not null and ${isIn(part)}
    group by 2
  `)
}

/** The key of the last row of the part that begins after a key, or null where so many rows are not left. */
export function findPartEnd(
  tx: CommonQueryMethods,
  { column, after, rows }: { column: SealedColumn; after: RowKey | null; rows: number },
): Promise<RowKey | null> {
  return tx.maybeOneFirst(sql.type(z.object({ key: z.array(z.string()) }))`
    select array[${textsOf(column)}] as key
    from ${sql.identifier([...column.table])}
    where ${isIn({ column, after, upTo: null })}
    order by ${namesOf(column)}
    offset ${rows - 1}
    limit 1
  `)
}

function namesOf({ key }: SealedColumn): FragmentSqlToken {
  const names = key.map(({ name }) => sql.identifier([name]))
  return sql.fragment`${sql.join(names, sql.fragment`, `)}`
}

function textsOf({ key }: SealedColumn): FragmentSqlToken {
  const texts = key.map(({ name }) => sql.fragment`${sql.identifier([name])}::text`)
  return sql.fragment`${sql.join(texts, sql.fragment`, `)}`
}

function isIn({ column, after, upTo }: SealedPart): FragmentSqlToken {
  const names = namesOf(column)
  const isAfter = after === null ? sql.fragment`true` : sql.fragment`(${names}) > (${valuesOf(column, after)})`
  const isUpTo = upTo === null ? sql.fragment`true` : sql.fragment`(${names}) <= (${valuesOf(column, upTo)})`
  return sql.fragment`${isAfter} and ${isUpTo}`
}

export type Batch = SealedPart & {
  /** Only values sealed with these keys. */
  kids: readonly string[]
  limit: number
}

/** The next values of a part, ordered by its key. */
export function readSealed(tx: CommonQueryMethods, { kids, limit, ...part }: Batch): Promise<readonly SealedValue[]> {
  const { column } = part
  const owner = column.merchant === undefined ? sql.fragment`null` : sql.identifier([column.merchant])
  return tx.any(sql.type(SealedValue)`
    select array[${textsOf(column)}] as key, ${owner}::text as merchant_id, ${sql.identifier([column.column])} as sealed
    from ${sql.identifier([...column.table])}
    where ${kidIn(column.column)} = any(${sql.array([...kids], 'text')}) and ${isIn(part)}
    order by ${namesOf(column)}
    limit ${limit}
  `)
}

function valuesOf({ key }: SealedColumn, row: RowKey): FragmentSqlToken {
  const values = key.map(
    ({ type }, index) =>
      sql.fragment`${row[index] ?? ''}::${type === 'uuid' ? sql.fragment`uuid` : sql.fragment`text`}`,
  )
  return sql.fragment`${sql.join(values, sql.fragment`, `)}`
}

export type Resealed = { key: RowKey; before: string; after: string }

/**
 * Writes resealed values, each only if the column still contains the value that was read, so that concurrent changes
 * stay. Locked rows are skipped, so it never waits.
 * @returns the number of written values
 */
export async function writeSealed(
  tx: CommonQueryMethods,
  column: SealedColumn,
  values: readonly Resealed[],
): Promise<number> {
  const { key } = column
  const target = sql.identifier([...column.table])
  const sealed = sql.identifier([column.column])
  const arrays = key.map(({ type }, index) =>
    sql.array(
      values.map((value) => value.key[index] ?? ''),
      type,
    ),
  )
  const isSame = (one: string, other: string): FragmentSqlToken =>
    sql.fragment`${sql.join(
      key.map(({ name }) => sql.fragment`${sql.identifier([one, name])} = ${sql.identifier([other, name])}`),
      sql.fragment` and `,
    )}`
  const names = key.map(({ name }) => sql.identifier([name]))
  const { count } = await tx.one(sql.type(ChangedCount)`
    with wanted (${sql.join([...names, sql.identifier(['before']), sql.identifier(['after'])], sql.fragment`, `)}) as (
      select * from unnest(
        ${sql.join(arrays, sql.fragment`, `)},
        ${sql.array(
          values.map(({ before }) => before),
          'text',
        )},
        ${sql.array(
          values.map(({ after }) => after),
          'text',
        )}
      )
    ),
    locked as materialized (
      select wanted.*
      from ${target} as found
      join wanted on ${isSame('found', 'wanted')} and found.${sealed} = wanted.before
      for no key update of found skip locked
    ),
    changed as (
      update ${target} as found
      set ${sealed} = locked.after
      from locked
      where ${isSame('found', 'locked')} and found.${sealed} = locked.before
      returning 1
    )
    select count(*)::int4 as count from changed
  `)
  return count
}

/** The signing secrets of the first and the last merchant: values are resealed in this order. */
export function findFirstAndLastSecrets(tx: CommonQueryMethods) {
  return tx.any(sql.type(SealedSecret)`
    (select id, webhook_signing_secret from merchants order by id limit 1)
    union
    (select id, webhook_signing_secret from merchants order by id desc limit 1)
  `)
}
