import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { during } from './scope-sql.ts'
import type { Numbers, Scope } from './scope-sql.ts'

/** Entries of the ledger in a window: reconciling these takes each check a small part of the 5 s that a statement may last. */
export const WINDOW_ENTRIES = 50_000
/** A settled payment has two entries, and a third if it is refunded. */
const ENTRIES_PER_PAYMENT = 3

const Window = z.object({ from_at: z.string().nullable(), until_at: z.string().nullable() })

/** Splits what is compared by time, so that each part has about as many entries. The parts do not share a microsecond. */
export async function listWindows(tx: CommonQueryMethods, scope: Scope, size = WINDOW_ENTRIES): Promise<Scope[]> {
  const rows = await tx.any(sql.type(Window)`
    select starts_at::text as from_at,
      (lead(starts_at) over (order by starts_at nulls first) - interval '1 microsecond')::text as until_at
    from (
      select ${scope.from ?? null}::timestamptz as starts_at
      union
      ${scope.merchantId === undefined ? cutsOfAll(scope, size) : cutsOfOne(scope, size)}
    ) cut
    order by starts_at nulls first
  `)
  return rows.map(({ from_at, until_at }) => ({ ...scope, from: from_at ?? undefined, until: until_at ?? undefined }))
}

/** Splits the numbers of all entries, the last part without an end. */
export async function listNumbers(tx: CommonQueryMethods, size: number): Promise<readonly Numbers[]> {
  const Part = z.object({ first: z.bigint(), end: z.bigint().nullable() })
  return tx.any(sql.type(Part)`
    select first, lead(first) over (order by first) as end
    from generate_series(0, coalesce((select max(ordinal) from ledger_entries), 0), ${size}::bigint) first
    order by first
  `)
}

/** By the numbers of the entries: one search of their key for each cut, however long the ledger is. */
function cutsOfAll(scope: Scope, size: number): FragmentSqlToken {
  return sql.fragment`
    select e.created_at
    from generate_series(${size}::bigint, (select max(ordinal) from ledger_entries), ${size}::bigint) n
    cross join lateral (select created_at from ledger_entries where ordinal >= n order by ordinal limit 1) e
    where ${during(sql.fragment`e.created_at`, scope)}
  `
}

/** By the merchant's settled payments, so that one with few is read at once, however many others have. */
function cutsOfOne(scope: Scope, size: number): FragmentSqlToken {
  return sql.fragment`
    select v.created_at
    from (
      select e.created_at, row_number() over (order by e.created_at) as n
      from payment_events e
      where e.merchant_id = ${scope.merchantId ?? null}::uuid and e.new_status = 'Settled'
        and ${during(sql.fragment`e.created_at`, scope)}
    ) v
    where v.n % ${Math.ceil(size / ENTRIES_PER_PAYMENT)} = 0
  `
}
