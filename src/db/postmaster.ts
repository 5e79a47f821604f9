import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const defaultPollMs = 10

/** Whether a process with this id exists, even one of another user. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Polls until the condition holds; false when it does not within the time. */
export const holdsWithin = async (
  milliseconds: number,
  condition: () => boolean,
  pollMs: number = defaultPollMs,
): Promise<boolean> => {
  const deadline = performance.now() + milliseconds
  while (!condition()) {
    if (performance.now() > deadline) return false
    await delay(pollMs)
  }
  return true
}

const pidFile = (dataDirectory: string): string => join(dataDirectory, 'postmaster.pid')

const readLines = (dataDirectory: string): string[] => {
  try {
    return readFileSync(pidFile(dataDirectory), 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Whether the server of this data directory, with this process id, accepts connections. */
export const isReady = (dataDirectory: string, pid: number): boolean => {
  const lines = readLines(dataDirectory)
  // PostgreSQL keeps its state in the eighth line, for pg_ctl.
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}

const commandLine = (pid: number): string => {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 })
  } catch {
    return ''
  }
}

/** Ends a server: fast first (clients are cut off, data is flushed), then harder. True once it is gone. */
export const endServer = async (pid: number, isGone: () => boolean = () => !isAlive(pid)): Promise<boolean> => {
  const steps: readonly [NodeJS.Signals, number][] = [
    ['SIGINT', 10_000],
    ['SIGQUIT', 3_000],
    ['SIGKILL', 2_000],
  ]
  for (const [signal, waitMs] of steps) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended just before the signal; the next line notices.
    }
    if (await holdsWithin(waitMs, isGone)) return true
  }
  return false
}

/** The process id of a postmaster.pid, where a process of that id exists that is not this one. */
const livePidIn = (lines: readonly string[]): number | null => {
  const pid = Number(lines[0])
  return Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid && isAlive(pid) ? pid : null
}

const isServerOf = (dataDirectory: string, pid: number): boolean => {
  const command = commandLine(pid)
  return command.includes('postgres') && command.includes(dataDirectory)
}

/** The process id of the server that runs on this data directory, or null. Changes nothing. */
export const findServer = (dataDirectory: string): number | null => {
  const pid = livePidIn(readLines(dataDirectory))
  return pid !== null && isServerOf(dataDirectory, pid) ? pid : null
}

/**
 * Clears the leftovers of an earlier run on this data directory. A server that outlived its svc (killed with
 * SIGKILL) is recognised by the process id in postmaster.pid and by its command line, and ended. An id
 * that now belongs to another program is replaced by our own: PostgreSQL treats its parent's id as stale
 * and then checks for surviving backends, which deleting the file would skip.
 * Returns the id of the server that was ended, or null.
 */
export const clearLeftovers = async (dataDirectory: string): Promise<number | null> => {
  const lines = readLines(dataDirectory)
  const pid = livePidIn(lines)
  if (pid === null) return null
  if (!isServerOf(dataDirectory, pid)) {
    writeFileSync(pidFile(dataDirectory), [String(process.pid), ...lines.slice(1)].join('\n'))
    return null
  }
  if (await endServer(pid)) return pid
  throw new Error(
    `A PostgreSQL of an earlier run (process ${pid}) on ${dataDirectory} does not stop. End it, then start again.`,
  )
}
