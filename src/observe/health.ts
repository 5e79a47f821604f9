import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { countOutbox, isReadOnly } from './health-sql.ts'
import type { OutboxCounts } from './health-sql.ts'

/** Whether the service can serve requests, for `svc status` and orchestrators. */
export type Readiness = {
  /** `draining`: the process was asked to stop, and serves until its grace period ends. */
  status: 'ready' | 'not_ready' | 'draining'
  /** `read_only`: it takes no changes, as a standby after a failover, or a server whose disk is full. */
  database: 'reachable' | 'unreachable' | 'read_only'
  /**
   * For information only: while it is `away`, sign-ins fail, but callers with a token are served. Missing if the service
   * has no identity provider.
   */
  identity?: 'reachable' | 'away'
  webhooks?: OutboxCounts
  /** For information only: with `none`, new payments are answered 503 BANK_NOT_CONFIGURED. */
  banks: 'configured' | 'none'
}

/** Time-outs of the checks, because readiness must respond quickly. */
const IDENTITY_TIMEOUT_MS = 1_000
const DATABASE_TIMEOUT_MS = 900
const COUNT_TIMEOUT_MS = 500

/** Whether the process is alive. It checks nothing else, so that a slow database never gets the process killed. */
export function describeHealth(): { status: 'ok' } {
  return { status: 'ok' }
}

/** How long a check answers for: those who ask meanwhile, and anyone may, cost nothing. */
const READY_MS = 1_000

/**
 * Makes the check of one listening server. There is one at a time, and all who ask share it, since it takes the only connection
 * that is kept for it. What is not ready is checked again at once.
 */
export function makeReadiness(
  app: App,
  now: () => number = () => performance.now(),
): (process: { isDraining: boolean }) => Promise<Readiness> {
  let ready: { found: Readiness; until: number } | undefined
  let checking: Promise<Readiness> | undefined

  async function check(): Promise<Readiness> {
    const until = now() + READY_MS
    try {
      const found = await describeReadiness(app)
      ready = found.status === 'ready' ? { found, until } : undefined
      return found
    } finally {
      checking = undefined
    }
  }

  return async ({ isDraining }) => {
    const found = ready !== undefined && ready.until > now() ? ready.found : await (checking ??= check())
    return isDraining && found.status === 'ready' ? { ...found, status: 'draining' } : found
  }
}

/**
 * Checks the database, over a connection of its own and within a second (times SVC_DATABASE_TIMEOUT_FACTOR): also while
 * every other one is in use. Counts the outbox and checks the identity provider, each for as long as it answers soon.
 */
async function describeReadiness(app: App): Promise<Readiness> {
  const identity = checkIdentity(app)
  const banks = app.catalogue.list.length === 0 ? 'none' : 'configured'
  try {
    const pool = await soon(reachDatabase(app), DATABASE_TIMEOUT_MS * app.config.databaseTimeoutFactor)
    const webhooks = await soon(countOutbox(pool), COUNT_TIMEOUT_MS).catch(() => undefined)
    return {
      status: 'ready',
      database: 'reachable',
      ...(await identity),
      ...(webhooks === undefined ? {} : { webhooks }),
      banks,
    }
  } catch (error) {
    const database = error instanceof ReadOnlyError ? 'read_only' : 'unreachable'
    app.log.warn({ err: error }, 'the database does not respond, or takes no changes')
    return { status: 'not_ready', database, ...(await identity), banks }
  }
}

class ReadOnlyError extends Error {
  override readonly name = 'ReadOnlyError'
}

async function reachDatabase({ readinessPool }: App): Promise<CommonQueryMethods> {
  const pool = await readinessPool.open()
  // An error within ends the connection: after a failover, the next one may find the primary.
  await pool.connect(async (connection) => {
    if (await isReadOnly(connection)) throw new ReadOnlyError('the database takes no changes')
  })
  return pool
}

async function checkIdentity({ identity, log }: App): Promise<Pick<Readiness, 'identity'>> {
  if (identity.kind === 'none') return {}
  try {
    await soon(identity.health(), IDENTITY_TIMEOUT_MS)
    return { identity: 'reachable' }
  } catch (error) {
    log.warn({ err: error }, 'the identity provider does not respond')
    return { identity: 'away' }
  }
}

/** What the work answers, unless it takes longer. */
async function soon<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
