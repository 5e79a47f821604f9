import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** Counts of webhook deliveries, for operators. */
export const OutboxCounts = z.object({
  waiting: z.int(),
  due: z.int(),
  dead: z.int(),
  /** Deliveries without a scheduled attempt, until their merchant sets or resumes an endpoint, or replays them. */
  held: z.int(),
})
export type OutboxCounts = z.infer<typeof OutboxCounts>

/** Upper limit of the counts: readiness is polled, and its cost must not grow with a backlog. */
const COUNTED_MAX = 10_000

/** Counts the deliveries that are waiting, due, DEAD and held, each up to 10,000. */
export function countOutbox(db: CommonQueryMethods): Promise<OutboxCounts> {
  return db.one(sql.type(OutboxCounts)`
    select count(*)::int as waiting, (count(*) filter (where due_at <= now()))::int as due,
      (
        select count(*)::int
        from (select from webhook_deliveries where last_error is not null and status = 'DEAD' limit ${COUNTED_MAX}) as capped
      ) as dead,
      (select count(*)::int from (select from webhook_parked limit ${COUNTED_MAX}) as capped) as held
    from (select due_at from webhook_queue limit ${COUNTED_MAX}) as capped
  `)
}
