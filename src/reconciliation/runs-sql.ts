import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { RunRecord } from './record.ts'

// Merchants by their names of today, also in runs that were kept without them.
const columns = sql.fragment`
  id, status, as_of, started_at, finished_at, next_run_at, totals, difference_counts, difference_count, failure, (
    select coalesce(jsonb_agg(d || jsonb_build_object('trading_name', m.trading_name) order by place), '[]')
    from jsonb_array_elements(differences) with ordinality as each (d, place)
    left join merchants m on m.id = (d->>'merchant_id')::uuid
  ) as differences
`
const Nothing = z.object({})

/** One process at a time begins a run. */
export function tryLockRuns(tx: DatabaseTransactionConnection): Promise<boolean> {
  return tx.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('reconciliations', 0)) as locked
  `)
}

/** Marks runs whose claim has ended: their processes died. */
export async function failAbandonedRuns(tx: DatabaseTransactionConnection): Promise<void> {
  await tx.query(sql.type(Nothing)`
    update reconciliations
    set status = 'FAILED', finished_at = now(), failure = 'the process that ran it has ended'
    where status = 'RUNNING' and next_run_at <= now()
  `)
}

/**
 * Begins a run if one is due, and claims it for `leaseMinutes`. Runs that began in the future, as the clock was set back
 * since, count nowhere: the next would wait until then. @returns when it began, or null where none is due
 */
export function insertDueRun(
  tx: DatabaseTransactionConnection,
  { id, leaseMinutes }: { id: string; leaseMinutes: number },
): Promise<string | null> {
  return tx.maybeOneFirst(sql.type(z.object({ as_of: z.string() }))`
    insert into reconciliations (id, as_of, next_run_at)
    select ${id}, now(), now() + make_interval(mins => ${leaseMinutes})
    where coalesce((
      select next_run_at <= now() from reconciliations
      where started_at <= clock_timestamp() order by started_at desc, id desc limit 1
    ), true)
    returning as_of
  `)
}

export type EndedRun = Pick<
  RunRecord,
  'status' | 'totals' | 'difference_counts' | 'difference_count' | 'differences'
> & {
  id: string
  failure: string | null
  minutesToNext: number
}

/** Ends a run; the next one is due so many minutes after this one began. */
export async function updateRun(tx: CommonQueryMethods, run: EndedRun): Promise<void> {
  await tx.query(sql.type(Nothing)`
    update reconciliations
    set status = ${run.status}, finished_at = now(), failure = ${run.failure},
      next_run_at = started_at + make_interval(mins => ${run.minutesToNext}),
      totals = ${JSON.stringify(run.totals)}::jsonb, difference_counts = ${JSON.stringify(run.difference_counts)}::jsonb,
      difference_count = ${run.difference_count}, differences = ${JSON.stringify(run.differences)}::jsonb
    where id = ${run.id} and status = 'RUNNING'
  `)
}

/** A page of runs, the newest first, with one row more than `limit` where there are more. */
export function listRunRows(
  tx: CommonQueryMethods,
  { afterId, limit }: { afterId: string | undefined; limit: number },
): Promise<readonly RunRecord[]> {
  const isAfter =
    afterId === undefined
      ? sql.fragment`true`
      : sql.fragment`(started_at, id) < (select started_at, id from reconciliations where id = ${afterId})`
  return tx.any(sql.type(RunRecord)`
    select ${columns} from reconciliations where ${isAfter} order by started_at desc, id desc limit ${limit + 1}
  `)
}

const LastRun = RunRecord.pick({ difference_counts: true }).extend({ finished_us: z.bigint(), seconds: z.string() })

/** The last run that compared everything. */
export function readLastCompared(tx: CommonQueryMethods): Promise<z.infer<typeof LastRun> | null> {
  return tx.maybeOne(sql.type(LastRun)`
    select difference_counts, (extract(epoch from finished_at) * 1000000)::bigint as finished_us,
      extract(epoch from finished_at - started_at) as seconds
    from reconciliations
    where status in ('BALANCED', 'DIFFERENT') and started_at <= now()
    order by started_at desc, id desc
    limit 1
  `)
}

export function listMerchantIds(tx: CommonQueryMethods): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(z.object({ id: z.string() }))`select id from merchants order by id`)
}
