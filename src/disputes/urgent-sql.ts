import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { UNRESOLVED, disputeDue } from './deadline-sql.ts'
import { filterConditions, disputeSummaryColumns, disputeTables } from './read-sql.ts'
import type { DisputeFilter } from './read-sql.ts'
import { DisputeSummaryRecord } from './record.ts'

/** Where a page ends: at a deadline in microseconds since 1970, or, where `dueUs` is null, among the resolved disputes. */
export type UrgentPosition = { dueUs: string | null; id: string }

const UrgentRow = DisputeSummaryRecord.extend({ due_us: z.string().nullable() })
export type UrgentRow = z.infer<typeof UrgentRow>

export type UrgentFilter = Omit<DisputeFilter, 'order' | 'afterId'> & { after: UrgentPosition | undefined }

/** Unresolved disputes by their deadlines, as in the inbox, then resolved ones, the newest first. */
export function listUrgentRows(tx: CommonQueryMethods, filter: UrgentFilter): Promise<readonly UrgentRow[]> {
  return tx.any(sql.type(UrgentRow)`
    select ${disputeSummaryColumns}, (extract(epoch from page.due_at) * 1000000)::bigint::text as due_us
    from (${unresolvedRows(filter)} union all ${resolvedRows(filter)}) page
    join (${disputeTables}) on d.merchant_id = page.merchant_id and d.id = page.id
    order by page.due_at, page.waits, d.created_at desc, d.id desc
    limit ${filter.limit}
  `)
}

function unresolvedRows(filter: UrgentFilter): FragmentSqlToken {
  const { after } = filter
  const isBehind =
    after === undefined
      ? sql.fragment`true`
      : after.dueUs === null
        ? sql.fragment`false`
        : sql.fragment`(due.at, d.id) >
            ('epoch'::timestamptz + ${after.dueUs}::bigint * interval '1 microsecond', ${after.id}::uuid)`
  return sql.fragment`
    (
      select d.merchant_id, d.id, d.id as waits, due.at as due_at
      from disputes d
      cross join lateral (select ${disputeDue} as at) due
      where d.status in ${UNRESOLVED} and ${sql.join(filterConditions(filter), sql.fragment` and `)} and ${isBehind}
      order by due.at, d.id
      limit ${filter.limit}
    )`
}

function resolvedRows(filter: UrgentFilter): FragmentSqlToken {
  const { merchantId, after } = filter
  const ofMerchant = merchantId === undefined ? sql.fragment`true` : sql.fragment`a.merchant_id = ${merchantId}`
  const isBehind =
    after === undefined || after.dueUs !== null
      ? sql.fragment`true`
      : sql.fragment`(d.created_at, d.id) <
            (select a.created_at, a.id from disputes a where a.id = ${after.id}::uuid and ${ofMerchant})`
  return sql.fragment`
    (
      select d.merchant_id, d.id, null::uuid, null::timestamptz
      from disputes d
      where d.status not in ${UNRESOLVED} and ${sql.join(filterConditions(filter), sql.fragment` and `)} and ${isBehind}
      order by d.created_at desc, d.id desc
      limit ${filter.limit}
    )`
}
