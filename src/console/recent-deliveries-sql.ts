import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const RecentDeliveries = z.strictObject({ merchant_id: z.string(), delivered: z.int(), dead: z.int() })

/** How the newest `limit` deliveries of each merchant have ended; those still in progress count in neither. */
export function countRecentDeliveryRows(
  tx: CommonQueryMethods,
  { merchantIds, limit }: { merchantIds: readonly string[]; limit: number },
): Promise<readonly z.infer<typeof RecentDeliveries>[]> {
  return tx.any(sql.type(RecentDeliveries)`
    select merchant_id, delivered, dead
    from count_recent_deliveries(${sql.array([...merchantIds], 'uuid')}, ${limit}::int4)
  `)
}
