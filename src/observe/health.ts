import type { App } from '../app.ts'
import { countOutbox } from './health-sql.ts'
import type { OutboxCounts } from './health-sql.ts'

/** Whether the service can serve: what `svc status` and an orchestrator look at. */
export type Readiness = {
  status: 'ready' | 'not_ready'
  database: 'reachable' | 'unreachable'
  /**
   * Shown, and no more: while it is away nobody signs in, but whoever has a token is still served. Missing where the
   * service has no identity provider.
   */
  identity?: 'reachable' | 'away'
  webhooks?: OutboxCounts
}

/** How long the identity provider may take: whoever asks for readiness waits no longer for it. */
const IDENTITY_TIMEOUT_MS = 1_000

/** Whether the process lives. It asks nothing of anyone, so a slow database never gets a process killed. */
export function describeHealth(): { status: 'ok' } {
  return { status: 'ok' }
}

/** Asks the database and the identity provider, and counts what the outbox holds. */
export async function describeReadiness(app: App): Promise<Readiness> {
  const asked = askIdentity(app)
  try {
    const webhooks = await countOutbox(app.pool)
    return { status: 'ready', database: 'reachable', ...(await asked), webhooks }
  } catch (error) {
    app.log.warn({ err: error }, 'the database does not answer')
    return { status: 'not_ready', database: 'unreachable', ...(await asked) }
  }
}

async function askIdentity({ identity, log }: App): Promise<Pick<Readiness, 'identity'>> {
  if (identity.kind === 'none') return {}
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${IDENTITY_TIMEOUT_MS} ms`)), IDENTITY_TIMEOUT_MS)
  })
  try {
    await Promise.race([identity.health(), late])
    return { identity: 'reachable' }
  } catch (error) {
    log.warn({ err: error }, 'the identity provider does not answer')
    return { identity: 'away' }
  } finally {
    clearTimeout(timer)
  }
}
