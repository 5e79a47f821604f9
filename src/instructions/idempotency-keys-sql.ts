import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** The owner of a key, and the path that it is for (decision 12). */
export type OrderKey = { customerId: string; clientId: string; path: string; idempotencyKey: string }

const Known = z.object({ request_fingerprint: z.string(), resource_id: z.string() })
type KnownKey = z.infer<typeof Known>

/**
 * Claims a key for a resource; null if it was claimed within the last 24 hours. A concurrent request waits here until
 * the other one has committed.
 */
export async function claimKey(
  tx: DatabaseTransactionConnection,
  key: OrderKey & { fingerprint: string; resourceId: string },
): Promise<KnownKey | null> {
  return tx.maybeOne(sql.prepared('take_order_key', Known)`
    insert into order_keys (customer_id, client_id, path, idempotency_key, request_fingerprint, resource_id)
    values (
      ${key.customerId}, ${key.clientId}, ${key.path}, ${key.idempotencyKey}, ${key.fingerprint}, ${key.resourceId}
    )
    on conflict (customer_id, client_id, path, idempotency_key) do update
    set request_fingerprint = excluded.request_fingerprint, resource_id = excluded.resource_id, created_at = now()
    where order_keys.created_at <= now() - interval '24 hours'
    returning request_fingerprint, resource_id
  `)
}

export function findKey(tx: CommonQueryMethods, key: OrderKey): Promise<KnownKey | null> {
  return tx.maybeOne(sql.prepared('find_order_key', Known)`
    select request_fingerprint, resource_id
    from order_keys
    where customer_id = ${key.customerId} and client_id = ${key.clientId} and path = ${key.path}
      and idempotency_key = ${key.idempotencyKey} and created_at > now() - interval '24 hours'
  `)
}

/** Deletes keys older than 24 hours, up to a limit, and returns their count. */
export async function deleteExpiredKeys(tx: CommonQueryMethods, limit: number): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    delete from order_keys
    where ctid in (
      select ctid from order_keys where created_at <= now() - interval '24 hours' order by created_at limit ${limit}
    )
  `)
  return rowCount
}
