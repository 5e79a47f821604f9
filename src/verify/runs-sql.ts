import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Violation } from './check-invariants.ts'

const Nothing = z.object({})

export function readNow(tx: CommonQueryMethods): Promise<string> {
  return tx.oneFirst(sql.type(z.object({ now: z.string() }))`select now()::text as now`)
}

/** One process at a time begins a run. */
export function tryLockVerifications(tx: DatabaseTransactionConnection): Promise<boolean> {
  return tx.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('verifications', 0)) as locked
  `)
}

/** Marks runs whose claim has ended: their processes died. */
export async function failAbandonedVerifications(tx: DatabaseTransactionConnection): Promise<void> {
  await tx.query(sql.type(Nothing)`
    update verifications
    set finished_at = now(), failure = 'the process that ran it has ended'
    where finished_at is null and next_run_at <= now()
  `)
}

/**
 * Begins a run if one is due, and claims it for `leaseMinutes`. Runs that began in the future, as the clock was set back
 * since, count nowhere: the next would wait until then. @returns whether it began
 */
export async function insertDueVerification(
  tx: DatabaseTransactionConnection,
  { id, leaseMinutes }: { id: string; leaseMinutes: number },
): Promise<boolean> {
  const begun = await tx.maybeOne(sql.typeAlias('id')`
    insert into verifications (id, next_run_at)
    select ${id}, now() + make_interval(mins => ${leaseMinutes})
    where coalesce((
      select next_run_at <= now() from verifications
      where started_at <= clock_timestamp() order by started_at desc, id desc limit 1
    ), true)
    returning id
  `)
  return begun !== null
}

export type EndedVerification = {
  id: string
  violations: readonly Violation[] | null
  failure: string | null
  minutesToNext: number
}

/** Ends a run; the next one is due so many minutes after this one began. */
export async function updateVerification(tx: CommonQueryMethods, run: EndedVerification): Promise<void> {
  await tx.query(sql.type(Nothing)`
    update verifications
    set finished_at = now(), failure = ${run.failure},
      violations = ${run.violations === null ? null : JSON.stringify(run.violations)}::jsonb,
      next_run_at = started_at + make_interval(mins => ${run.minutesToNext})
    where id = ${run.id} and finished_at is null
  `)
}

const LastVerification = z.object({
  violations: z.array(z.object({ invariant: z.string(), count: z.int() })),
  finished_us: z.bigint(),
})

/** The last run that checked everything. */
export function readLastVerification(tx: CommonQueryMethods): Promise<z.infer<typeof LastVerification> | null> {
  return tx.maybeOne(sql.type(LastVerification)`
    select violations, (extract(epoch from finished_at) * 1000000)::bigint as finished_us
    from verifications
    where violations is not null and started_at <= now()
    order by started_at desc, id desc
    limit 1
  `)
}
