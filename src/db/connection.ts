import pg from 'pg'
import { pgTypes } from './type-parsers.ts'

/**
 * What every connection that serves requests or work is bounded by, in milliseconds. For a database that is slow to answer
 * each is `timeoutFactor` times as long.
 */
export function timeoutsOf({ timeoutFactor = 1 }: Pick<ConnectionTarget, 'timeoutFactor'>) {
  const times = (ms: number): number => Math.round(ms * timeoutFactor)
  return {
    connect: times(2_000),
    statement: times(5_000),
    idleInTransaction: times(5_000),
    lock: times(1_000),
    /** How long a request waits for a connection, or for its turn in a batch. With the lock's time-out it is less than 3 s. */
    turn: times(1_500),
    /** How long items of a batch that timed out wait for locks when they are run again one by one: each, and together. */
    single: times(100),
    singles: times(500),
    // A link that went silent is noticed by no timeout of the server's: the client gives up a little after the
    // server would have, so that the server's own, more precise, error wins wherever there is still a link.
    query: times(6_000),
  }
}

export type Timeouts = Readonly<ReturnType<typeof timeoutsOf>>

/** Maintenance can wait for a server that has much to do. */
const MAINTENANCE_CONNECT_MS = 10_000

export type ConnectionTarget = {
  /**
   * postgres://user:password@host:port/database, for PostgreSQL 15 to 18. A Unix socket's folder is
   * written percent-encoded in the place of the host.
   */
  databaseUrl: string
  /** The role to act as from the first statement on, for example `svc_runtime`; else the login itself. */
  role?: string
  /** Shown in pg_stat_activity. */
  applicationName?: string
  /** Multiplies each time limit (`SVC_DATABASE_TIMEOUT_FACTOR`). 1 if it is missing. */
  timeoutFactor?: number
}

// In the start-up packet's `options` a space ends an argument and a backslash escapes.
const escapeOption = (value: string): string => value.replaceAll(/[\\ ]/g, String.raw`\$&`)

/**
 * The target's URL with the session's settings in `options`: they travel in the start-up packet and cost
 * no round trip. Options that the URL already carries come first, so ours win. UTC and ISO dates are
 * always set, because the type parsers read no other form.
 */
export const urlWithSettings = (target: ConnectionTarget, settings: Readonly<Record<string, string>>): string => {
  const [base = '', query = ''] = target.databaseUrl.split('?', 2)
  const parameters = new URLSearchParams(query)
  const role = target.role === undefined ? {} : { role: target.role }
  const options = Object.entries({ timezone: 'UTC', datestyle: 'ISO', ...settings, ...role })
  const given = parameters.get('options') ?? ''
  const own = options.map(([name, value]) => `-c ${name}=${escapeOption(value)}`)
  parameters.set('options', [given, ...own].filter((part) => part !== '').join(' '))
  parameters.set('application_name', target.applicationName ?? 'svc')
  return `${base}?${parameters}`
}

/** The settings of every connection that serves requests or work, in PostgreSQL's own names. */
export const runtimeSettings = ({
  statement,
  idleInTransaction,
  lock,
}: Timeouts): Readonly<Record<string, string>> => ({
  statement_timeout: `${statement}ms`,
  idle_in_transaction_session_timeout: `${idleInTransaction}ms`,
  lock_timeout: `${lock}ms`,
  // Short statements over tables that are estimated to be long: compiling them would take many times their own duration.
  jit: 'off',
})

const connect = async (client: pg.Client): Promise<pg.Client> => {
  try {
    await client.connect()
    return client
  } catch (error) {
    // A failed attempt may have left its socket half open.
    await client.end().catch(() => undefined)
    throw error
  }
}

/**
 * A connected, dedicated `pg` client with the pool's settings and type parsers, for what slonik does not
 * do: the batcher's named statements, LISTEN and NOTIFY, advisory locks held over a whole session.
 *
 * It never reconnects. `onError` is called once when the server or the network ends an idle connection
 * (without a listener Node would end the process); queries in progress reject as well, and so
 * does every later one. The owner then drops this client and makes another. A query that outlives its time-out
 * rejects with "Query read timeout" while the connection still waits for its answer: the owner must drop
 * the client in that case too, and must treat a commit in progress as unknown.
 */
export const makePgConnection = async (
  target: ConnectionTarget & { onError: (error: Error) => void },
): Promise<pg.Client> => {
  const timeouts = timeoutsOf(target)
  const client = new pg.Client({
    connectionString: urlWithSettings(target, runtimeSettings(timeouts)),
    connectionTimeoutMillis: timeouts.connect,
    query_timeout: timeouts.query,
    keepAlive: true,
    types: pgTypes,
  })
  client.on('error', target.onError)
  return connect(client)
}

/**
 * A connected `pg` client of the login itself for maintenance (migrations, creating databases): no
 * statement timeout, since building an index may take its time; the caller sets lock timeouts where it
 * locks. A lost connection makes the statement in progress reject, so the error event adds nothing.
 */
export const makeAdminConnection = async (target: ConnectionTarget): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: urlWithSettings(target, { statement_timeout: '0', client_min_messages: 'warning' }),
    connectionTimeoutMillis: MAINTENANCE_CONNECT_MS,
    keepAlive: true,
    types: pgTypes,
  })
  client.on('error', () => undefined)
  return connect(client)
}
