import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { isIn, keyOf, namesOf } from '../db/parts-sql.ts'
import type { KeyRange } from '../db/parts-sql.ts'
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

/** Values of a part of the rows. */
export type SealedPart = KeyRange & { column: SealedColumn }

/** Number of values of a part per key. */
export function countKids(tx: CommonQueryMethods, { column, ...part }: SealedPart): Promise<readonly KidCount[]> {
  return tx.any(sql.type(KidCount)`
    select ${nameOf(column)}::text as "column", ${kidIn(column.column)} as kid, count(*) as count
    from ${sql.identifier([...column.table])}
    where ${sql.identifier([column.column])} is not null and ${isIn(column, part)}
    group by 2
  `)
}

export type Batch = SealedPart & {
  /** Only values sealed with these keys. */
  kids: readonly string[]
  limit: number
}

/** The next values of a part, ordered by its key. */
export function readSealed(
  tx: CommonQueryMethods,
  { column, kids, limit, ...part }: Batch,
): Promise<readonly SealedValue[]> {
  const owner = column.merchant === undefined ? sql.fragment`null` : sql.identifier([column.merchant])
  return tx.any(sql.type(SealedValue)`
    select ${keyOf(column)} as key, ${owner}::text as merchant_id, ${sql.identifier([column.column])} as sealed
    from ${sql.identifier([...column.table])}
    where ${kidIn(column.column)} = any(${sql.array([...kids], 'text')}) and ${isIn(column, part)}
    order by ${namesOf(column)}
    limit ${limit}
  `)
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
