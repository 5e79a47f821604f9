import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { WIDE_FACTOR } from '../lib/network-hash.ts'
import type { NetworkHashes } from '../lib/network-hash.ts'
import { sql } from './sql.ts'

const Wait = z.object({ seconds: z.int() })

/**
 * How many seconds until fewer than `limit` rows of a table have this value and are younger than an hour; null if that is
 * already so. For an exact limit the caller holds a lock, or the row that it counts for.
 */
export async function secondsUntilFewer(
  tx: CommonQueryMethods,
  { table, column, value, limit }: { table: string; column: string; value: string; limit: number },
): Promise<number | null> {
  const wait = await tx.maybeOne(sql.type(Wait)`
    select ceil(extract(epoch from created_at + interval '1 hour' - clock_timestamp()))::int as seconds
    from ${sql.identifier([table])}
    where ${sql.identifier([column])} = ${value} and created_at > clock_timestamp() - interval '1 hour'
    order by created_at desc
    offset ${limit - 1}
    limit 1
  `)
  return wait === null ? null : Math.max(wait.seconds, 1)
}

/**
 * The same for a network, in a table with the columns `request_ip_hash` and `wide_ip_hash`: a wide network has several
 * times the limit.
 */
export async function secondsUntilFewerOfNetwork(
  tx: CommonQueryMethods,
  { table, network, limit }: { table: string; network: NetworkHashes; limit: number },
): Promise<number | null> {
  const ofOwn = await secondsUntilFewer(tx, { table, column: 'request_ip_hash', value: network.own, limit })
  if (ofOwn !== null || network.wide === network.own) return ofOwn
  return secondsUntilFewer(tx, { table, column: 'wide_ip_hash', value: network.wide, limit: limit * WIDE_FACTOR })
}
