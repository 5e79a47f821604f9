import { existsSync, rmSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CliError, codeOf } from '../../base/errors.ts'
import { runningState } from '../../client/find-service.ts'
import { isRunning, serviceFile } from '../../client/service-state.ts'
import { command } from '../../kit/command.ts'
import { isTakenError, explained } from './explain.ts'

// A service drains requests for up to 10 s and stops its database after that.
const STOP_TIMEOUT_MS = 40_000
const KILL_TIMEOUT_MS = 5_000
const PAUSE_MS = 25

type DownResult = {
  pid: number | null
  /** The database server that an earlier, killed service had left behind, or null. */
  leftover_pid: number | null
}

/** Stops the service of the state directory and waits until it and its database are gone. Nothing running is a success. */
async function stopService(stateDir: string, note: (line: string) => void): Promise<DownResult> {
  if (!existsSync(stateDir)) return { pid: null, leftover_pid: null }
  const pid = await stopProcess(stateDir, note)
  const leftoverPid = await stopLeftover(stateDir)
  if (runningState(stateDir) === undefined) rmSync(serviceFile(stateDir), { force: true })
  return { pid, leftover_pid: leftoverPid }
}

async function stopProcess(stateDir: string, note: (line: string) => void): Promise<number | null> {
  if (!(await isTaken(stateDir))) return null
  const pid = runningState(stateDir)?.pid
  if (pid === undefined) throw underWay(stateDir)
  send(pid, 'SIGTERM')
  if (await isGoneWithin(pid, STOP_TIMEOUT_MS)) return pid
  note(`Process ${pid} does not stop; it is killed.`)
  send(pid, 'SIGKILL')
  if (await isGoneWithin(pid, KILL_TIMEOUT_MS)) return pid
  throw new CliError('DOES_NOT_STOP', `process ${pid} does not stop`)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (cause) {
    // Otherwise it has just ended by itself.
    if (codeOf(cause) === 'EPERM') throw new CliError('FORBIDDEN', `process ${pid} belongs to another user`, { cause })
  }
}

async function isGoneWithin(pid: number, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds
  while (isRunning(pid)) {
    if (performance.now() > deadline) return false
    await delay(PAUSE_MS)
  }
  return true
}

/** A service that was killed could not stop its database: its server is found by its data and stopped. */
async function stopLeftover(stateDir: string): Promise<number | null> {
  const [{ lockStateDirectory, readServerState }, { clearLeftovers }] = await Promise.all([
    import('../../../src/db/state-directory.ts'),
    import('../../../src/db/postmaster.ts'),
  ])
  const unlock = lockStateDirectory(stateDir)
  try {
    const server = readServerState(stateDir)
    return server === null ? null : await clearLeftovers(server.dataDirectory)
  } finally {
    unlock()
  }
}

/**
 * Whether a process holds the state directory. The operating system's lock says so for certain, where a process id in a
 * file may belong to another program by now.
 */
async function isTaken(stateDir: string): Promise<boolean> {
  if (!existsSync(stateDir)) return false
  const { lockStateDirectory } = await import('../../../src/db/state-directory.ts')
  try {
    lockStateDirectory(stateDir)()
    return false
  } catch (error) {
    if (isTakenError(error)) return true
    throw error
  }
}

function underWay(stateDir: string): CliError {
  return new CliError('STATE_DIRECTORY_TAKEN', `a service is starting or stopping in ${stateDir}`, {
    hint: 'the same command again in a moment, or another --state-dir',
    retryable: true,
  })
}

/**
 * Refuses to start beside a service of the same directory, and says how to reach and how to stop it.
 * @throws {CliError} ALREADY_RUNNING, exit code 7
 */
export async function refuseIfTaken(stateDir: string): Promise<void> {
  if (!(await isTaken(stateDir))) return
  const state = runningState(stateDir)
  if (state === undefined) throw underWay(stateDir)
  throw new CliError(
    'ALREADY_RUNNING',
    `svc is running already in ${stateDir}: process ${state.pid}, ${state.api_url}`,
    {
      hint: 'to stop it: svc down\nto look at it: svc status\nto run a second one beside it: another --state-dir',
    },
  )
}

export type ResetPlan = { stateDir: string; dataDirectory: string }

/**
 * What there is to reset in a state directory.
 * @throws {CliError} NO_SANDBOX_DATA, exit code 6, where svc keeps no database of its own there: one from outside may be
 *   in use, and is not ours to empty; FOREIGN_DATA, exit code 2, where its file names a folder that is not its own
 */
export async function planReset(stateDir: string): Promise<ResetPlan> {
  const { readServerState } = await import('../../../src/db/state-directory.ts')
  const server = existsSync(stateDir) ? readServerState(stateDir) : null
  if (server !== null) {
    const { isDataDirectoryOf } = await import('../../../src/db/embedded.ts')
    // The file that names it may have been edited, and a database elsewhere is not ours.
    if (isDataDirectoryOf(realpathSync(stateDir), server.dataDirectory))
      return { stateDir, dataDirectory: server.dataDirectory }
    throw new CliError('FOREIGN_DATA', `${stateDir} names a database elsewhere, which is not taken away`, {
      hint: `another --state-dir; the folder is named in ${join(stateDir, 'postgres.json')}`,
    })
  }
  throw new CliError('NO_SANDBOX_DATA', `svc keeps no database of its own in ${stateDir}`, {
    hint: 'another --state-dir; a database from outside is emptied where it came from',
  })
}

/** Stops the service where it runs, and takes its data away; keys and the port stay. Returns whether one ran. */
export async function resetSandbox(plan: ResetPlan, note: (line: string) => void): Promise<boolean> {
  const { stateDir, dataDirectory } = plan
  const { pid } = await stopService(stateDir, note)
  const { lockStateDirectory } = await import('../../../src/db/state-directory.ts')
  const unlock = lockStateDirectory(stateDir)
  try {
    // Only what is a database's folder is taken away, whatever a file says.
    if (existsSync(join(dataDirectory, 'PG_VERSION'))) rmSync(dataDirectory, { recursive: true, force: true })
    rmSync(join(stateDir, 'postgres.json'), { force: true })
    rmSync(serviceFile(stateDir), { force: true })
  } finally {
    unlock()
  }
  return pid !== null
}

export const down = command({
  command: 'down',
  summary: 'Stop the service and keep its data',
  examples: ['svc down', 'svc down --state-dir /tmp/shop'],
  flags: {},
  async run(context) {
    const result = await explained(() => stopService(context.stateDir, context.note))
    const leftover =
      result.leftover_pid === null ? '' : `process ${result.leftover_pid}, left behind by a service that was killed`
    context.print.record(
      { stopped: result.pid !== null || result.leftover_pid !== null, ...result },
      [
        [
          'Stopped',
          result.pid === null ? (leftover === '' ? 'nothing: no service was running' : '') : `process ${result.pid}`,
        ],
        ['Database', leftover],
      ],
      { id: String(result.pid ?? '') },
    )
  },
})
