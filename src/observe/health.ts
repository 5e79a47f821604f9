import { z } from 'zod'
import type { App } from '../app.ts'
import { sql } from '../db/sql.ts'

const Counts = z.object({ waiting: z.int(), due: z.int(), oldest_due_seconds: z.number().nullable(), dead: z.int() })

/** Whether the service can serve: what `svc status` and an orchestrator look at. */
export type Readiness = {
  status: 'ready' | 'not_ready'
  database: 'reachable' | 'unreachable'
  webhooks?: z.infer<typeof Counts>
}

/** Whether the process lives. It asks nothing of anyone, so a slow database never gets a process killed. */
export function describeHealth(): { status: 'ok' } {
  return { status: 'ok' }
}

/** Asks the database, and counts what the outbox holds. */
export async function describeReadiness(app: App): Promise<Readiness> {
  try {
    const webhooks = await app.pool.one(sql.type(Counts)`
      select count(*)::int as waiting,
        (count(*) filter (where due_at <= now()))::int as due,
        extract(epoch from now() - min(due_at) filter (where due_at <= now()))::float8 as oldest_due_seconds,
        (select count(*)::int from webhook_deliveries where status = 'DEAD') as dead
      from webhook_queue
    `)
    return { status: 'ready', database: 'reachable', webhooks }
  } catch (error) {
    app.log.warn({ err: error }, 'the database does not answer')
    return { status: 'not_ready', database: 'unreachable' }
  }
}
