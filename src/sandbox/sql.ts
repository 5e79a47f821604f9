import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const NextDue = z.strictObject({ due: z.int(), underway: z.int(), wait_ms: z.number().nullable() })
export type NextDue = z.infer<typeof NextDue>

/** What of a merchant is due now, what workers have under way, and how long until the next due time after now. */
export function findNextDue(db: CommonQueryMethods, merchantId: string): Promise<NextDue> {
  return db.one(sql.prepared('sandbox_next_due', NextDue)`
    select
      (count(*) filter (where due_at <= now()))::int as due,
      (select count(*)::int from webhook_queue where merchant_id = ${merchantId} and locked_until > now())
        + (
          select count(*)::int from payment_intents
          where merchant_id = ${merchantId} and status = 'Authorised' and locked_until > now()
        ) as underway,
      extract(epoch from min(due_at) filter (where due_at > now()) - now())::float8 * 1000 as wait_ms
    from sandbox_due_times(${merchantId}::uuid)
  `)
}

/** Moves the due times of a merchant into the past (migrations/0012_sandbox_clock.sql). */
export async function advanceDueTimes(
  db: CommonQueryMethods,
  { merchantId, ms }: { merchantId: string; ms: number },
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    select advance_sandbox_clock(${merchantId}::uuid, make_interval(secs => ${ms}::float8 / 1000))
  `)
}
