import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { oldestLateWebhook } from '../db/late-webhooks-sql.ts'
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

/** Whether transactions of this connection can change nothing, as on a standby. Reads no table. */
export function isReadOnly(db: CommonQueryMethods): Promise<boolean> {
  return db.oneFirst(sql.type(z.object({ is_read_only: z.boolean() }))`
    select current_setting('transaction_read_only')::boolean as is_read_only
  `)
}

/** Counts the deliveries that are waiting, due, DEAD and held, each up to 10,000. */
export function countOutbox(db: CommonQueryMethods): Promise<OutboxCounts> {
  return db.one(sql.type(OutboxCounts)`
    select count(*)::int as waiting, (count(*) filter (where due_at <= now()))::int as due,
      (
        select count(*)::int
        from (select from webhook_deliveries where status = 'DEAD' limit ${COUNTED_MAX}) as capped
      ) as dead,
      (select count(*)::int from (select from webhook_waiting limit ${COUNTED_MAX}) as capped) as held
    from (select due_at from webhook_queue limit ${COUNTED_MAX}) as capped
  `)
}

/** How long the oldest row of each kind is overdue, in seconds; 0 where nothing is. */
export const Overdue = z.object({ webhooks: z.number(), settlements: z.number(), consents: z.number() })
export type Overdue = z.infer<typeof Overdue>

/** Measures how late the background jobs are: each value is one read of an index, that of webhooks one for each merchant. */
export function measureOverdue(db: CommonQueryMethods): Promise<Overdue> {
  return db.one(sql.type(Overdue)`
    select
      ${lateBy(oldestLateWebhook)} as webhooks,
      ${lateBy(sql.fragment`select min(settle_at) from payment_intents where status = 'Authorised'`)} as settlements,
      ${lateBy(sql.fragment`select min(expires_at) from payment_consents where status = 'AWAITING_AUTHORISATION'`)} as consents
  `)
}

function lateBy(since: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`greatest(0, coalesce(extract(epoch from now() - (${since})), 0))::float8`
}
