import type { App } from '../app.ts'
import { countOutbox } from './health-sql.ts'
import type { OutboxCounts } from './health-sql.ts'

/** Whether the service can serve: what `svc status` and an orchestrator look at. */
export type Readiness = {
  status: 'ready' | 'not_ready'
  database: 'reachable' | 'unreachable'
  webhooks?: OutboxCounts
}

/** Whether the process lives. It asks nothing of anyone, so a slow database never gets a process killed. */
export function describeHealth(): { status: 'ok' } {
  return { status: 'ok' }
}

/** Asks the database, and counts what the outbox holds. */
export async function describeReadiness(app: App): Promise<Readiness> {
  try {
    const webhooks = await countOutbox(app.pool)
    return { status: 'ready', database: 'reachable', webhooks }
  } catch (error) {
    app.log.warn({ err: error }, 'the database does not answer')
    return { status: 'not_ready', database: 'unreachable' }
  }
}
