import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { secondsUntilFewer } from '../db/hourly-limit-sql.ts'
import { sql } from '../db/sql.ts'

/** Serialises the registrations of a network until the transaction ends. */
export async function lockNetwork(tx: CommonQueryMethods, requestIpHash: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    select from pg_advisory_xact_lock(hashtextextended('registration ' || ${requestIpHash}, 0))
  `)
}

/**
 * Seconds until a network has asked for fewer than `limit` registrations within the hour; null if it may register now.
 * Call it under `lockNetwork`, so that a burst is counted one by one.
 */
export function secondsUntilAllowed(
  tx: CommonQueryMethods,
  { requestIpHash, limit }: { requestIpHash: string; limit: number },
): Promise<number | null> {
  return secondsUntilFewer(tx, {
    table: 'registration_attempt',
    column: 'request_ip_hash',
    value: requestIpHash,
    limit,
  })
}

export async function insertAttempt(tx: CommonQueryMethods, requestIpHash: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`insert into registration_attempt (request_ip_hash) values (${requestIpHash})`)
}

/** Deletes up to `limit` attempts that no longer count. */
export async function deleteOldAttempts(tx: CommonQueryMethods, limit: number): Promise<number> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    delete from registration_attempt
    where ctid in (
      select ctid from registration_attempt where created_at < clock_timestamp() - interval '1 hour' limit ${limit}
    )
  `)
  return rowCount
}
