import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** What is removed: up to `rowsMax` rows that are older than `days`. */
export type Limit = { days: number; rowsMax: number }

const before = (days: number): FragmentSqlToken => sql.fragment`now() - ${days} * interval '1 day'`

/** Removes webhooks with their attempts (migrations/functions/remove_webhooks.sql). @returns how many */
export function removeWebhooks(tx: CommonQueryMethods, { days, rowsMax }: Limit): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ removed: z.int() }))`
    select remove_webhooks(${before(days)}, ${rowsMax}) as removed
  `)
}

/** Removes the record of calls to banks, which is in the order of time. @returns how many calls */
export async function removeBankCalls(tx: CommonQueryMethods, { days, rowsMax }: Limit): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    delete from obie.calls
    where id in (
      select id from (select id, at from obie.calls order by id limit ${rowsMax}) first where at < ${before(days)}
    )
  `)
  return rowCount
}

/** Removes reconciliations and verifications that have ended. @returns how many */
export async function removeRuns(tx: CommonQueryMethods, { days, rowsMax }: Limit): Promise<number> {
  const { rowCount: reconciliations } = await tx.query(sql.typeAlias('void')`
    delete from reconciliations
    where id in (
      select id from reconciliations where started_at < ${before(days)} and finished_at is not null
      order by started_at, id limit ${rowsMax}
    )
  `)
  const { rowCount: verifications } = await tx.query(sql.typeAlias('void')`
    delete from verifications
    where id in (
      select id from verifications where started_at < ${before(days)} and finished_at is not null
      order by started_at, id limit ${rowsMax}
    )
  `)
  return reconciliations + verifications
}

/** Removes alerts that are over. @returns how many */
export async function removeAlerts(tx: CommonQueryMethods, { days, rowsMax }: Limit): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    delete from operator_alerts
    where (name, subject) in (
      select name, subject from operator_alerts where not is_firing and seen_at < ${before(days)} limit ${rowsMax}
    )
  `)
  return rowCount
}
