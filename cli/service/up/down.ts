import { existsSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { isRunning, serviceFile } from '../../client/service-state.ts'
import { isTaken } from './running.ts'

// A service drains requests for up to 10 s and stops its database after that.
const STOP_TIMEOUT_MS = 40_000
const KILL_TIMEOUT_MS = 5_000
const PAUSE_MS = 25

export type DownResult = {
  /** The service that was stopped, or null when none ran. */
  pid: number | null
  /** The database server that an earlier, killed service had left behind, or null. */
  leftover_pid: number | null
}

/** Stops the service of the state directory and waits until it and its database are gone. Nothing running is a success. */
export async function stopService(stateDir: string, note: (line: string) => void): Promise<DownResult> {
  if (!existsSync(stateDir)) return { pid: null, leftover_pid: null }
  const pid = await stopProcess(stateDir, note)
  const leftoverPid = await stopLeftover(stateDir)
  if (runningState(stateDir) === undefined) rmSync(serviceFile(stateDir), { force: true })
  return { pid, leftover_pid: leftoverPid }
}

async function stopProcess(stateDir: string, note: (line: string) => void): Promise<number | null> {
  if (!(await isTaken(stateDir))) return null
  const pid = runningState(stateDir)?.pid
  if (pid === undefined) {
    throw new CliError('STATE_DIRECTORY_TAKEN', `a service is starting or stopping in ${stateDir}`, {
      exit: EXIT.conflict,
      hint: 'svc down once more in a moment',
      retryable: true,
    })
  }
  send(pid, 'SIGTERM')
  if (await isGoneWithin(pid, STOP_TIMEOUT_MS)) return pid
  note(`Process ${pid} does not stop; it is killed.`)
  send(pid, 'SIGKILL')
  if (await isGoneWithin(pid, KILL_TIMEOUT_MS)) return pid
  throw new CliError('DOES_NOT_STOP', `process ${pid} does not stop`, { exit: EXIT.failure })
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (cause) {
    const isForbidden = cause instanceof Error && 'code' in cause && cause.code === 'EPERM'
    // Otherwise it has just ended by itself.
    if (isForbidden)
      throw new CliError('FORBIDDEN', `process ${pid} belongs to another user`, { exit: EXIT.forbidden, cause })
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
