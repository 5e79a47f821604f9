import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbedded } from '../../src/db/embedded.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { shortHash } from '../../src/db/postgres-files.ts'
import { holdsWithin, isAlive } from '../../src/db/postmaster.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { readServerState } from '../../src/db/state-directory.ts'
import { SCRATCH } from './scratch.ts'

/*
 * One PostgreSQL for a whole run of the suite, shared with runs that go on beside it and kept warm when a
 * run is cut off. A keeper process owns the server; it ends, server and all, when no run is left that uses
 * it. Nothing in it survives, so it does without fsync.
 */
const folder = join(SCRATCH, `svc-test-${process.getuid?.() ?? 0}-${shortHash(packageRoot())}`)
const usersFolder = join(folder, 'users')
const urlFile = join(folder, 'url')
const attemptsMax = 15
const attemptMs = 2_000

const liveUsers = (): number[] =>
  readdirSync(usersFolder)
    .map(Number)
    .filter((pid) => {
      if (isAlive(pid)) return true
      rmSync(join(usersFolder, String(pid)), { force: true })
      return false
    })

const readUrl = (): string => {
  try {
    return readFileSync(urlFile, 'utf8').trim()
  } catch {
    return ''
  }
}

const answers = async (url: string): Promise<boolean> => {
  if (url === '') return false
  try {
    await (await makeAdminConnection({ databaseUrl: url })).end()
    return true
  } catch {
    return false
  }
}

const spawnKeeper = (): void => {
  // It outlives the run, so it is no part of what tap observes of the run: env drops tap's preloads.
  const command = ['-u', 'NODE_OPTIONS', process.execPath, import.meta.filename, 'keep']
  spawn('env', command, { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

/** Registers a process as a user of the shared server, starts it if need be, and returns its URL. */
const ensureCluster = async (userPid: number): Promise<string> => {
  const given = process.env['SVC_TEST_DATABASE_URL']
  if (given !== undefined && given !== '') return given
  mkdirSync(usersFolder, { recursive: true, mode: 0o711 })
  writeFileSync(join(usersFolder, String(userPid)), '')
  // Two runs may both come here: the state directory's lock lets one keeper through, the other one ends. So it also does
  // while a keeper's server is only too busy to answer, or is being stopped: hence the repetition. What a keeper that was
  // killed left of an address is overwritten by the next one.
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const known = readUrl()
    if (await answers(known)) return known
    spawnKeeper()
    await holdsWithin(attemptMs, () => readUrl() !== known)
  }
  throw new Error(`The tests' PostgreSQL did not start; see ${folder}.`)
}

/** Takes a process off the list of users; the keeper stops the server when the list is empty. */
const leaveCluster = (userPid: number): void => rmSync(join(usersFolder, String(userPid)), { force: true })

let own: Promise<string> | undefined

/** The shared server's URL for a test process, whether tap or plain node started it; the server stays until it has ended. */
export const clusterUrl = (): Promise<string> => (own ??= ensureCluster(process.pid))

/** The longest folder that has room for a socket: its whole path has some 100 bytes at most, on any system. */
const SOCKET_FOLDER_MAX = 60

/** The same address by the server's Unix socket, which costs a query half the CPU; by TCP where there is none. */
export const bySocket = (url: string): string => {
  const given = process.env['SVC_TEST_DATABASE_URL'] ?? ''
  const state = given === '' ? readServerState(folder) : null
  const { username, password, port, pathname } = new URL(url)
  if (state === null || !existsSync(join(state.dataDirectory, `.s.PGSQL.${port}`))) return url
  return `postgres://${username}:${password}@${encodeURIComponent(state.dataDirectory)}:${port}${pathname}`
}

const lookEveryMs = 1_000
const AT_SOCKET = 'local all all trust\n'

// Databases that live for a few seconds need no vacuum, which would start a process in each of them.
// Tests make thousands of connections: by TCP the password is hashed once, for the client pays for each turn, and at the
// socket, which lies in a folder of the server's own, none is asked for.
const tune = async (databaseUrl: string): Promise<void> => {
  const client = await makeAdminConnection({ databaseUrl })
  // The data of an earlier run are started again, with what was set for it.
  await client.query('alter system reset all')
  await client.query('alter system set autovacuum = off')
  // As the service's own connections have it; those of tests are without its settings.
  await client.query('alter system set jit = off')
  await client.query('set scram_iterations = 1')
  await client.query(`alter role current_user password ${client.escapeLiteral(new URL(databaseUrl).password)}`)
  await client.query('alter system set update_process_title = off')
  const { rows } = await client.query<{ hba_file: string }>('show hba_file')
  for (const { hba_file: file } of rows) {
    const rules = readFileSync(file, 'utf8')
    if (!rules.startsWith(AT_SOCKET)) writeFileSync(file, AT_SOCKET + rules)
  }
  await client.query('select pg_reload_conf()')
  await client.end()
}

const keep = async (): Promise<void> => {
  const socket = process.platform !== 'win32' && folder.length <= SOCKET_FOLDER_MAX
  const server = await startEmbedded({ stateDir: folder, log: () => undefined, disposable: true, socket })
  await tune(server.url)
  // Renamed into place, so that no process reads half a URL.
  writeFileSync(`${urlFile}.new`, server.url, { mode: 0o600 })
  renameSync(`${urlFile}.new`, urlFile)
  let running = true
  void server.exited.then(() => (running = false))
  await holdsWithin(Number.POSITIVE_INFINITY, () => !running || liveUsers().length === 0, lookEveryMs)
  rmSync(urlFile, { force: true })
  await server.stop()
}

const [, script, task, userPid] = process.argv
if (script === import.meta.filename && task === 'keep') await keep()
if (script === import.meta.filename && task === 'join') await ensureCluster(Number(userPid))
if (script === import.meta.filename && task === 'leave') leaveCluster(Number(userPid))
