import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** What the outbox holds, for operators. */
export const OutboxCounts = z.object({
  waiting: z.int(),
  due: z.int(),
  oldest_due_seconds: z.number().nullable(),
  dead: z.int(),
})
export type OutboxCounts = z.infer<typeof OutboxCounts>

/** Counts deliveries that wait, that are due, and that are DEAD. */
export function countOutbox(db: CommonQueryMethods): Promise<OutboxCounts> {
  return db.one(sql.type(OutboxCounts)`
    select count(*)::int as waiting,
      (count(*) filter (where due_at <= now()))::int as due,
      extract(epoch from now() - min(due_at) filter (where due_at <= now()))::float8 as oldest_due_seconds,
      (select count(*)::int from webhook_deliveries where status = 'DEAD') as dead
    from webhook_queue
  `)
}
