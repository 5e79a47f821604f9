import { createPgDriverFactory } from '@slonik/pg-driver'
import pg from 'pg'
import { createPool } from 'slonik'
import type { ClientConfigurationInput, DatabasePool, DriverFactory, Interceptor, QueryResultRow } from 'slonik'
import { runtimeSettings, timeoutsOf, urlWithSettings } from './connection.ts'
import type { ConnectionTarget } from './connection.ts'
import { limitToMerchant } from './scoped-query.ts'
import { makeTurns } from './turns.ts'
import { slonikTypeParsers } from './type-parsers.ts'

/** A row came back in another shape than its statement declares: a bug of ours, never of the caller's. */
export class RowShapeError extends Error {
  override readonly name = 'RowShapeError'
}

/** A statement got no answer in time: the link is dead, and whether it took effect is unknown. */
export class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError'
}

const isRow = (value: unknown): value is QueryResultRow => typeof value === 'object' && value !== null

// The row's values stay out of the error, because they may be secrets or personal data, and errors are logged.
const checkRows: Interceptor = {
  name: 'check-rows',
  transformRow: ({ resultParser }, query, row) => {
    if (resultParser === undefined) return row
    const outcome = resultParser['~standard'].validate(row)
    if (outcome instanceof Promise) throw new RowShapeError(`An asynchronous row schema is not supported: ${query.sql}`)
    if (outcome.issues === undefined && isRow(outcome.value)) return outcome.value
    const issues = outcome.issues ?? [{ message: 'the schema is not that of a row', path: [] }]
    const faults = issues.map(({ path, message }) => `${path?.map(String).join('.') ?? 'row'}: ${message}`)
    throw new RowShapeError(`A row does not have its declared shape (${faults.join('; ')}): ${query.sql}`)
  },
}

/** Gets the text of each statement, without its values, and its duration. */
export type OnStatement = ((text: string, durationMs: number) => void) | undefined

const withDeadline = async <T>(work: Promise<T>, queryMs: number): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const message = `The database has not answered for ${queryMs} ms.`
  const timer = setTimeout(() => reject(new DatabaseSilentError(message)), queryMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

// slonik's driver waits forever on a link that went silent. Rejecting here makes slonik destroy the
// connection, as it does with every connection on which a statement failed.
const driverWithDeadline =
  (onStatement: OnStatement, queryMs: number): DriverFactory =>
  async (input) => {
    const driver = await createPgDriverFactory()(input)
    return {
      createClient: async () => {
        const client = await driver.createClient()
        const limited = limitToMerchant(client.query)
        const query: typeof client.query = (text, values, options) =>
          withDeadline(limited(text, values, options), queryMs)
        if (onStatement === undefined) return { ...client, query }
        const timed: typeof client.query = async (text, values, options) => {
          const startedAt = performance.now()
          try {
            return await query(text, values, options)
          } finally {
            onStatement(text, performance.now() - startedAt)
          }
        }
        return { ...client, query: timed }
      },
    }
  }

// slonik reads fewer TLS parameters than pg does, and rejects those it does not know. So pg reads the
// URL's, and slonik gets the outcome: both kinds of connection then trust the same certificates.
const withoutTls = (url: string): { uri: string; tls: Pick<ClientConfigurationInput, 'ssl'> } => {
  const ssl: unknown = new pg.Client({ connectionString: url }).ssl
  const [base = '', query = ''] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  const kept = ['application_name', 'options', 'host'].flatMap((name) => {
    const value = parameters.get(name)
    const pair: [string, string][] = value === null ? [] : [[name, value]]
    return pair
  })
  const tls = typeof ssl === 'object' && ssl !== null ? { ssl: { ...ssl } } : ssl === true ? { ssl: {} } : {}
  return { uri: `${base}?${new URLSearchParams(kept)}`, tls }
}

const nothingToReset = async (): Promise<void> => undefined

/**
 * Opens the pool for everything that is not a batch: `size` connections, opened at once and kept, so a
 * request never waits for one to be made. Rejects when the database cannot be reached (see
 * `describeDatabaseError`); later losses are repaired by the next query that asks for a connection.
 *
 * Nothing may depend on session state, because connections are reused as they are: resetting them would
 * drop the prepared statements. A statement that fails costs its connection, so expected
 * conflicts are answered with `on conflict`, not by catching. A transaction's handler is run again on a
 * serialisation failure or a deadlock, so it holds nothing but SQL. A statement of several seconds is
 * ended by the server (5 s), a lock waited for at most 1 s, and a free connection 1.5 s, times the target's factor.
 */
export const makePool = async (
  target: ConnectionTarget & { size: number; onStatement?: OnStatement },
): Promise<DatabasePool> => {
  const timeouts = timeoutsOf(target)
  const { uri, tls } = withoutTls(urlWithSettings(target, runtimeSettings(timeouts)))
  const pool = await createPool(uri, {
    ...tls,
    driverFactory: driverWithDeadline(target.onStatement, timeouts.query),
    minPoolSize: target.size,
    maxPoolSize: target.size,
    idleTimeout: 'DISABLE_TIMEOUT',
    connectionTimeout: timeouts.connect,
    // One means to try once, so that a request fails fast while the database is unavailable.
    connectionRetryLimit: 1,
    statementTimeout: timeouts.statement,
    idleInTransactionSessionTimeout: timeouts.idleInTransaction,
    gracefulTerminationTimeout: 1_000,
    transactionRetryLimit: 3,
    queryRetryLimit: 3,
    resetConnection: nothingToReset,
    typeParsers: slonikTypeParsers,
    interceptors: [checkRows],
  })
  return inTurns(pool, { size: target.size, waitMs: timeouts.turn })
}

/** The methods that take a connection. */
const TAKES_CONNECTION = new Set<string | symbol>([
  'any',
  'anyFirst',
  'connect',
  'exists',
  'many',
  'manyFirst',
  'maybeOne',
  'maybeOneFirst',
  'one',
  'oneFirst',
  'query',
  'stream',
  'transaction',
])

/** slonik's own queue for connections has no end, so who waits does it before. */
const inTurns = (pool: DatabasePool, options: Parameters<typeof makeTurns>[0]): DatabasePool => {
  const inTurn = makeTurns(options)
  const methods = new Map<string | symbol, unknown>()
  for (const name of TAKES_CONNECTION) {
    const method: unknown = Reflect.get(pool, name)
    if (typeof method !== 'function') throw new Error(`slonik's pool has no ${String(name)}`)
    methods.set(name, (...values: unknown[]) => inTurn(() => Reflect.apply(method, pool, values) as Promise<unknown>))
  }
  return new Proxy(pool, { get: (target, name) => methods.get(name) ?? Reflect.get(target, name) })
}

/** A pool that is opened when it is first needed, and again if that failed. */
export type LatePool = { open(): Promise<DatabasePool>; close(): Promise<void> }

/** @param target as `makePool` takes it */
export const makeLatePool = (target: Parameters<typeof makePool>[0]): LatePool => {
  let opening: Promise<DatabasePool> | undefined
  return {
    open: () => {
      opening ??= makePool(target).catch((error: unknown) => {
        opening = undefined
        throw error
      })
      return opening
    },
    close: async () => (await opening?.catch(() => undefined))?.end(),
  }
}
