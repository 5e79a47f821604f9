import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** What the outbox holds, for operators. */
export const OutboxCounts = z.object({
  waiting: z.int(),
  due: z.int(),
  dead: z.int(),
  /** Those that no attempt is planned for before their merchant sets or resumes an endpoint, or sends them by hand. */
  held: z.int(),
})
export type OutboxCounts = z.infer<typeof OutboxCounts>

/** Where the counting stops: readiness is asked often, and must not cost more the longer a backlog is. */
const COUNTED_MAX = 10_000

/** Counts deliveries that wait, those of them that are due, those that are DEAD and those that are held, each up to 10,000. */
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
