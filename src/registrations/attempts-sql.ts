import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { secondsUntilFewerOfNetwork } from '../db/hourly-limit-sql.ts'
import { sql } from '../db/sql.ts'
import type { NetworkHashes } from '../lib/network-hash.ts'

/** Serialises the registrations of a network until the transaction ends. */
export async function lockNetwork(tx: CommonQueryMethods, { wide }: NetworkHashes): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    select from pg_advisory_xact_lock(hashtextextended('registration ' || ${wide}, 0))
  `)
}

/**
 * Seconds until a network has asked for fewer than `limit` registrations within the hour; null if it may register now.
 * Call it under `lockNetwork`, so that a burst is counted one by one.
 */
export function secondsUntilAllowed(
  tx: CommonQueryMethods,
  { network, limit }: { network: NetworkHashes; limit: number },
): Promise<number | null> {
  return secondsUntilFewerOfNetwork(tx, { table: 'registration_attempt', network, limit })
}

export async function insertAttempt(tx: CommonQueryMethods, { own, wide }: NetworkHashes): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into registration_attempt (request_ip_hash, wide_ip_hash) values (${own}, ${wide})
  `)
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
