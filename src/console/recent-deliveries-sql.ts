import type { QuerySqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

export const RecentDeliveries = z.strictObject({ merchant_id: z.string(), delivered: z.int(), dead: z.int() })
export type RecentDeliveries = z.infer<typeof RecentDeliveries>

/** How the newest deliveries of each have ended; those that are on their way count in neither. */
export function countRecentDeliveries(
  merchantIds: readonly string[],
  lookedAt: number,
): QuerySqlToken<typeof RecentDeliveries> {
  return sql.type(RecentDeliveries)`
    select merchant_id, delivered, dead
    from count_recent_deliveries(${sql.array([...merchantIds], 'uuid')}, ${lookedAt}::int4)`
}
