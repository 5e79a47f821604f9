import type { App } from '../app.ts'
import { countOutbox } from './health-sql.ts'
import type { OutboxCounts } from './health-sql.ts'

/** Whether the service can serve requests, for `svc status` and orchestrators. */
export type Readiness = {
  /** `draining`: the process was asked to stop, and serves until its grace period ends. */
  status: 'ready' | 'not_ready' | 'draining'
  database: 'reachable' | 'unreachable'
  /**
   * For information only: while it is `away`, sign-ins fail, but callers with a token are served. Missing if the service
   * has no identity provider.
   */
  identity?: 'reachable' | 'away'
  webhooks?: OutboxCounts
  /** For information only: with `none`, new payments are answered 503 BANK_NOT_CONFIGURED. */
  banks: 'configured' | 'none'
}

/** Timeout of the identity provider's check, because the readiness check must respond quickly. */
const IDENTITY_TIMEOUT_MS = 1_000

/** Whether the process is alive. It checks nothing else, so that a slow database never gets the process killed. */
export function describeHealth(): { status: 'ok' } {
  return { status: 'ok' }
}

/** Checks the database and the identity provider, and counts the outbox. */
export async function describeReadiness(app: App, { isDraining }: { isDraining: boolean }): Promise<Readiness> {
  const identity = checkIdentity(app)
  const banks = app.catalogue.list.length === 0 ? 'none' : 'configured'
  try {
    const webhooks = await countOutbox(app.pool)
    return { status: isDraining ? 'draining' : 'ready', database: 'reachable', ...(await identity), webhooks, banks }
  } catch (error) {
    app.log.warn({ err: error }, 'the database does not respond')
    return { status: 'not_ready', database: 'unreachable', ...(await identity), banks }
  }
}

async function checkIdentity({ identity, log }: App): Promise<Pick<Readiness, 'identity'>> {
  if (identity.kind === 'none') return {}
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${IDENTITY_TIMEOUT_MS} ms`)), IDENTITY_TIMEOUT_MS)
  })
  try {
    await Promise.race([identity.health(), late])
    return { identity: 'reachable' }
  } catch (error) {
    log.warn({ err: error }, 'the identity provider does not respond')
    return { identity: 'away' }
  } finally {
    clearTimeout(timer)
  }
}
