import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from './sql.ts'

/** How many of each merchant's rows a page of all merchants compares at least. */
const EXAMINED_OF_EACH_MIN = 100

/** The columns that `examinedRows` adds: whether a row matches, and whether it is the last one that was examined. */
export const Examined = z.object({ matches: z.boolean(), is_last_examined: z.boolean() })
export type Examined = z.infer<typeof Examined>

/**
 * The newest candidates that match, up to `limit`, with `Examined`. If there are as many candidates as `examined`, the last one
 * is returned in any case: the next page begins after it.
 * @param candidates selects the columns of `order` and what `matches` compares, of at most so many rows, the newest
 * @param matches conditions over candidate `o`. Without one every candidate matches, and no more than `limit` are examined
 * @param order of the list, by columns of the candidates
 */
export function examinedRows({
  candidates,
  matches,
  examined,
  limit,
  order = sql.fragment`created_at desc, id desc`,
}: {
  candidates: (count: number) => FragmentSqlToken
  matches: readonly FragmentSqlToken[]
  examined: number
  limit: number
  order?: FragmentSqlToken
}): FragmentSqlToken {
  const count = matches.length === 0 ? limit : examined
  return sql.fragment`
    select e.*
    from (
      select o.*, ${sql.join([sql.fragment`true`, ...matches], sql.fragment` and `)} as matches,
        row_number() over (order by ${order}) = ${count} as is_last_examined
      from (${candidates(count)}) o
    ) e
    where e.matches or e.is_last_examined
    order by ${order}
    limit ${limit}`
}

/** How many rows of each merchant a page of all examines: those of one merchant's page are shared among them. */
export function examinedOfEach(tx: CommonQueryMethods, ofOne: number): Promise<number> {
  return tx.oneFirst(sql.type(z.strictObject({ examined: z.number() }))`
    select greatest(${EXAMINED_OF_EACH_MIN}, ${ofOne} / greatest(count(*), 1))::int as examined from merchants`)
}
