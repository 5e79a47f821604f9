import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const Wait = z.object({ seconds: z.int() })

/**
 * How many seconds a network must wait until it has asked for fewer than `limit` registrations within the hour; null
 * where it may go on. Held against others of the same network until the transaction's end, so that a burst is counted
 * one by one.
 */
export async function secondsToWait(
  tx: CommonQueryMethods,
  { requestIpHash, limit }: { requestIpHash: string; limit: number },
): Promise<number | null> {
  await tx.query(sql.type(z.object({}))`
    select from pg_advisory_xact_lock(hashtextextended('registration ' || ${requestIpHash}, 0))
  `)
  const wait = await tx.maybeOne(sql.type(Wait)`
    select ceil(extract(epoch from created_at + interval '1 hour' - clock_timestamp()))::int as seconds
    from registration_attempt
    where request_ip_hash = ${requestIpHash} and created_at > clock_timestamp() - interval '1 hour'
    order by created_at desc
    offset ${limit - 1}
    limit 1
  `)
  return wait === null ? null : Math.max(wait.seconds, 1)
}

export async function insertAttempt(tx: CommonQueryMethods, requestIpHash: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`insert into registration_attempt (request_ip_hash) values (${requestIpHash})`)
}

/** Forgets up to `limit` attempts that count no longer. */
export async function deleteOldAttempts(db: CommonQueryMethods, limit: number): Promise<number> {
  const { rowCount } = await db.query(sql.type(z.object({}))`
    delete from registration_attempt
    where ctid in (
      select ctid from registration_attempt where created_at < clock_timestamp() - interval '1 hour' limit ${limit}
    )
  `)
  return rowCount
}
