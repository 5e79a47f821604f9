import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chownSync, closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeAdminConnection } from './connection.ts'
import { freePort, isFree } from './free-port.ts'
import { createCluster, requireSameMajor } from './init-cluster.ts'
import { canEnter, postgresBinaries, serverUser, sharedFolder, shortHash } from './postgres-files.ts'
import type { PostgresBinaries, ServerUser } from './postgres-files.ts'
import { clearLeftovers, endServer, holdsWithin, isReady } from './postmaster.ts'
import {
  lockStateDirectory,
  prepareStateDirectory,
  readServerState,
  stateDirectoryError,
  writeServerState,
} from './state-directory.ts'

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

export type EmbeddedServer = {
  /** postgres://svc_owner:password@127.0.0.1:port/svc; svc_owner owns the server. */
  url: string
  port: number
  pid: number
  /**
   * Fast shutdown, bounded: afterwards no process is left. May be called again. Until then this process
   * stays alive.
   */
  stop: () => Promise<void>
  /** Resolves when the server has ended for good, for whatever reason. */
  exited: Promise<Exit>
}

export type EmbeddedOptions = {
  stateDir: string
  /** The port on 127.0.0.1; without one, the last one when still free, else any free one. */
  port?: number
  /** Gets one sentence for each notable event. */
  log: (line: string) => void
  /** For throw-away data: faster, but a crash of the server or the machine may lose some or all of it. */
  disposable?: boolean
  /** Whether it is started again when it ends by itself, a few times a minute. */
  restarts?: boolean
  /** Whether it listens on a Unix socket in the data directory too, which costs less CPU than TCP. */
  socket?: boolean
  /** Another folder of server binaries than the installed platform package, for tests. */
  packageFolder?: string
}

const owner = 'svc_owner'
const databaseName = 'svc'

// Crash recovery after a power cut replays at most max_wal_size; this is far more than that needs.
const readyTimeoutMs = 60_000
// Backends of a server that was killed need a moment to notice; until then a new one may not start.
const backendsTimeoutMs = 10_000

// A laptop's sandbox: little memory, little disk, all the durability. Statements and row values stay out of
// the log, because they may hold personal data; the error and its code are enough to find the statement.
const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  shared_buffers: '64MB',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  // Until its first statistics a new database may search keys by the merchant alone, which is slower with each payment.
  autovacuum_naptime: '10s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}
const disposableSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' }

type Cluster = {
  stateDir: string
  dataDirectory: string
  user: ServerUser
  binaries: PostgresBinaries
  settings: Readonly<Record<string, string>>
}

// As root, the state directory may lie where the server's user cannot go, for example under /root.
const chooseDataDirectory = (stateDir: string, user: ServerUser): string =>
  canEnter(stateDir, user) ? insideOf(stateDir) : outsideOf(stateDir)

const insideOf = (stateDir: string): string => join(stateDir, 'postgres')
const outsideOf = (stateDir: string): string => join(sharedFolder, shortHash(stateDir), 'postgres')

/** Whether a start in this state directory, by its real path, would have put its data there. */
export const isDataDirectoryOf = (stateDir: string, dataDirectory: string): boolean =>
  [insideOf(stateDir), outsideOf(stateDir)].includes(dataDirectory)

// Data made by an ordinary user keeps its owner when root starts it.
const ownerOf = (dataDirectory: string, otherwise: ServerUser): ServerUser => {
  if (otherwise === undefined || !existsSync(dataDirectory)) return otherwise
  const { uid, gid } = statSync(dataDirectory)
  return uid === 0 ? otherwise : { uid, gid }
}

const openLog = (stateDir: string): { file: number; from: number; path: string } => {
  const path = join(stateDir, 'postgres.log')
  const file = openSync(path, 'a', 0o600)
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(stateDir)
    chownSync(path, uid, gid)
  }
  return { file, from: fstatSync(file).size, path }
}

type Launch = { child: ChildProcess; exited: Promise<Exit>; output: () => string }

const launch = (cluster: Cluster, port: number): Launch => {
  const log = openLog(cluster.stateDir)
  const flags = Object.entries(cluster.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(cluster.binaries.postgres, ['-D', cluster.dataDirectory, '-p', String(port), ...flags], {
    ...cluster.user,
    cwd: '/',
    // Its own process group: Ctrl+C in a terminal reaches only svc, which stops the server in its turn.
    detached: true,
    stdio: ['ignore', log.file, log.file],
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  })
  closeSync(log.file)
  const { promise: exited, resolve } = Promise.withResolvers<Exit>()
  child.once('error', () => resolve({ code: null, signal: null }))
  child.once('exit', (code, signal) => resolve({ code, signal }))
  return { child, exited, output: () => readFileSync(log.path).subarray(log.from).toString('utf8').trim() }
}

const hasEnded = ({ child }: Launch): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null

const launchUntilReady = async (cluster: Cluster, port: number): Promise<Launch> => {
  const retryUntil = performance.now() + backendsTimeoutMs
  for (;;) {
    const launched = launch(cluster, port)
    const { pid } = launched.child
    const settled = (): boolean => hasEnded(launched) || (pid !== undefined && isReady(cluster.dataDirectory, pid))
    const inTime = await holdsWithin(readyTimeoutMs, settled)
    if (inTime && !hasEnded(launched)) return launched
    if (pid !== undefined && !inTime) await endServer(pid, () => hasEnded(launched))
    const output = launched.output()
    if (output.includes('pre-existing shared memory block') && performance.now() < retryUntil) {
      await holdsWithin(100, () => false)
      continue
    }
    const last = output.split('\n').slice(-5).join(' | ')
    const remedy = output.includes('No space left') ? ' The disk is full: free some space.' : ''
    throw new Error(
      `PostgreSQL did not start: ${last === '' ? 'it printed nothing' : last}.${remedy} ` +
        `See ${join(cluster.stateDir, 'postgres.log')}, choose another --state-dir, or use SVC_DATABASE_URL.`,
    )
  }
}

const choosePort = async (requested: number | undefined, remembered: number | null): Promise<number> => {
  if (requested !== undefined) {
    if (await isFree(requested)) return requested
    throw new Error(
      `Port ${requested} on 127.0.0.1, requested for PostgreSQL, is taken. Stop the program that listens there, or choose another port.`,
    )
  }
  if (remembered !== null && (await isFree(remembered))) return remembered
  return freePort()
}

const ensureDatabase = async (urlOf: (database: string) => string): Promise<void> => {
  const client = await makeAdminConnection({ databaseUrl: urlOf('postgres') })
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`create database ${databaseName}`)
  } finally {
    await client.end()
  }
}

const prepareCluster = async (
  options: EmbeddedOptions,
  stateDir: string,
): Promise<{ cluster: Cluster; password: string; port: number }> => {
  const loginUser = serverUser()
  const copyFolder = loginUser === undefined ? stateDir : sharedFolder
  const found = options.packageFolder === undefined ? {} : { packageFolder: options.packageFolder }
  const binaries = postgresBinaries({ user: loginUser, copyFolder, ...found })
  const before = readServerState(stateDir)
  const dataDirectory = before?.dataDirectory ?? chooseDataDirectory(stateDir, loginUser)
  const user = ownerOf(dataDirectory, loginUser)
  const password = before?.password ?? randomBytes(24).toString('hex')
  const ended = await clearLeftovers(dataDirectory)
  if (ended !== null)
    options.log(`A PostgreSQL of an earlier run (process ${ended}) was still running and was stopped.`)
  const port = await choosePort(options.port, before?.port ?? null)
  // Written before the cluster exists: a cluster whose password is lost would be useless.
  writeServerState(stateDir, { password, port, dataDirectory })
  if (existsSync(join(dataDirectory, 'PG_VERSION'))) requireSameMajor(dataDirectory, binaries.version)
  else {
    if (!dataDirectory.startsWith(stateDir))
      options.log(`The database is kept in ${dataDirectory}, which its user can reach.`)
    mkdirSync(join(dataDirectory, '..'), { recursive: true, mode: 0o755 })
    await createCluster({ binaries, user, dataDirectory, password, owner, sync: options.disposable !== true })
  }
  const own = {
    ...settings,
    ...(options.disposable === true ? disposableSettings : {}),
    ...(options.socket === true ? { unix_socket_directories: dataDirectory } : {}),
  }
  return { cluster: { stateDir, dataDirectory, user, binaries, settings: own }, password, port }
}

// A server that ends more often than this is not helped by another start.
const restartsMax = 5
const restartsWithinMs = 60_000

type Supervision = { relaunch: (() => Promise<Launch>) | undefined; unlock: () => void; log: EmbeddedOptions['log'] }

/** Follows the server to its end, and starts it again where it ended by itself and `relaunch` is given. */
const supervise = (
  first: Launch,
  { relaunch, unlock, log }: Supervision,
): Pick<EmbeddedServer, 'stop' | 'exited'> & { pid(): number } => {
  let current = first
  let stopping: Promise<void> | undefined
  let restartedAt: number[] = []
  const { promise: exited, resolve } = Promise.withResolvers<Exit>()
  // The last resort when svc ends without stopping the server; nothing asynchronous can run any more.
  const onProcessExit = (): void => void current.child.kill('SIGINT')
  process.once('exit', onProcessExit)

  const startAgain = async (): Promise<boolean> => {
    const now = performance.now()
    restartedAt = [...restartedAt.filter((at) => now - at < restartsWithinMs), now]
    if (relaunch === undefined || stopping !== undefined || restartedAt.length > restartsMax) return false
    log('PostgreSQL has ended by itself and is started again.')
    try {
      current = await relaunch()
      return true
    } catch (error) {
      log(error instanceof Error ? error.message : String(error))
      // One that ended while it started has ended once more; one that hangs is not helped by another start.
      return performance.now() - now < restartsWithinMs && startAgain()
    }
  }

  const follow = async (): Promise<void> => {
    let exit: Exit
    do exit = await current.exited
    while (await startAgain())
    process.off('exit', onProcessExit)
    unlock()
    resolve(exit)
  }
  void follow()

  const stop = async (): Promise<void> => {
    // A restart in progress is completed first: `follow` then sees the end of the new server.
    do {
      if (!hasEnded(current)) await endServer(current.child.pid ?? 0, () => hasEnded(current))
    } while (await Promise.race([exited.then(() => false), holdsWithin(50, () => false).then(() => true)]))
  }
  return { pid: () => current.child.pid ?? 0, exited, stop: () => (stopping ??= stop()) }
}

/**
 * Starts a PostgreSQL server of our own for this state directory, with data in its `postgres` folder, and
 * waits until it accepts connections. The first start creates the cluster, with scram-sha-256 logins and a
 * random password, and the database `svc`; later ones use the same data. It listens on 127.0.0.1 only.
 *
 * A server left behind by a svc that was killed is stopped first. Rejects with StateDirectoryError when the
 * directory cannot be used or another svc uses it, with EmbeddedUnavailableError on a machine without server
 * binaries; all messages say what to do.
 */
export const startEmbedded = async (options: EmbeddedOptions): Promise<EmbeddedServer> => {
  const startedAt = performance.now()
  const stateDir = prepareStateDirectory(options.stateDir)
  const unlock = lockStateDirectory(stateDir)
  try {
    const { cluster, password, port } = await prepareCluster(options, stateDir)
    const launched = await launchUntilReady(cluster, port)
    const relaunch = async (): Promise<Launch> => {
      await clearLeftovers(cluster.dataDirectory)
      return launchUntilReady(cluster, port)
    }
    const { pid, stop, exited } = supervise(launched, {
      relaunch: options.restarts === true ? relaunch : undefined,
      unlock,
      log: options.log,
    })
    const urlOf = (database: string): string => `postgres://${owner}:${password}@127.0.0.1:${port}/${database}`
    try {
      await ensureDatabase(urlOf)
    } catch (error) {
      await stop()
      throw error
    }
    options.log(
      `PostgreSQL ${cluster.binaries.version.split('.', 2).join('.')} listens on 127.0.0.1:${port} (${Math.round(performance.now() - startedAt)} ms).`,
    )
    return {
      url: urlOf(databaseName),
      port,
      get pid() {
        return pid()
      },
      stop,
      exited,
    }
  } catch (error) {
    unlock()
    if (error instanceof Error && 'syscall' in error && 'path' in error) throw stateDirectoryError(stateDir, error)
    throw error
  }
}
