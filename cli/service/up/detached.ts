import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../../base/errors.ts'
import { isRunning, readServiceState } from '../../client/service-state.ts'
import type { ServiceState } from '../../client/service-state.ts'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { explained } from './explain.ts'
import type { UpPlan } from './plan.ts'
import { checkPort, logFile, ownLike } from './state-files.ts'
import { onStopSignals } from '../../base/signals.ts'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 15_000
const PAUSE_MS = 50
const TAIL_LINES = 20

/**
 * Starts the same command again as a process of its own, without a terminal and with a log file, and waits until it
 * answers. A child that ends, or takes longer than a minute, is a failure that shows the end of its log.
 */
export async function runDetached(plan: UpPlan): Promise<ServiceState> {
  const { prepareStateDirectory } = await import('../../../src/db/state-directory.ts')
  const stateDir = prepareStateDirectory(plan.stateDir)
  // Asked here too, so that the usual mistake is reported at once and in full.
  if (plan.port !== 0) await explained(() => checkPort(plan.port), plan)
  const log = openLog(stateDir)
  const child = launch(plan, { stateDir, log: log.file })
  closeSync(log.file)
  let isInterrupted = false
  const release = onStopSignals(() => {
    isInterrupted = true
  })
  try {
    const state = await waitUntilReady(child, stateDir, () => isInterrupted)
    child.unref()
    return state
  } catch (error) {
    await end(child)
    if (error instanceof CliError && error.code !== 'INTERRUPTED') showTail(plan, log)
    throw error
  } finally {
    release()
  }
}

type Log = { path: string; file: number; from: number }

function openLog(stateDir: string): Log {
  const path = logFile(stateDir)
  const file = openSync(path, 'a', 0o600)
  ownLike(stateDir, path)
  return { path, file, from: fstatSync(file).size }
}

function launch(plan: UpPlan, { stateDir, log }: { stateDir: string; log: number }): ChildProcess {
  const { database } = plan
  const args = [join(packageRoot(), 'bin', 'svc.js'), 'up', '--port', String(plan.port), '--state-dir', stateDir]
  // An address with a password goes through the environment, which other users can't read as they can arguments.
  const env = database.kind === 'outside' && database.url !== undefined ? { SVC_DATABASE_URL: database.url } : {}
  const given = [
    ...(database.kind === 'embedded' ? ['--db', 'embedded'] : []),
    ...(plan.identity === undefined ? [] : ['--idp', plan.identity]),
    ...(plan.bank === undefined ? [] : ['--bank', plan.bank]),
    ...(plan.authUrl === undefined ? [] : ['--auth-url', plan.authUrl]),
  ]
  const outside = ['SVC_DATABASE_URL_FILE', 'SVC_MIGRATION_DATABASE_URL', 'SVC_MIGRATION_DATABASE_URL_FILE']
  const inherited =
    'SVC_DATABASE_URL' in env
      ? Object.fromEntries(Object.entries(plan.env).filter(([name]) => !outside.includes(name)))
      : plan.env
  // Its number is all it prints on standard output: logins have no place in a log.
  const said = { SVC_LOG_LEVEL: plan.env['SVC_LOG_LEVEL'] || 'info', SVC_OUTPUT: 'id' }
  return spawn(process.execPath, [...args, ...given], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...inherited, ...said, ...env },
  })
}

async function waitUntilReady(
  child: ChildProcess,
  stateDir: string,
  isInterrupted: () => boolean,
): Promise<ServiceState> {
  const deadline = performance.now() + START_TIMEOUT_MS
  for (;;) {
    const state = readServiceState(stateDir)
    if (state !== undefined && state.pid === child.pid && isRunning(state.pid)) return state
    if (hasEnded(child))
      throw new CliError('START_FAILED', `the service did not start; its log is ${logFile(stateDir)}`)
    if (isInterrupted()) throw new CliError('INTERRUPTED', 'interrupted while starting')
    if (performance.now() > deadline) {
      throw new CliError(
        'START_TIMED_OUT',
        `the service was not ready within ${START_TIMEOUT_MS / 1_000} s and was stopped; its log is ${logFile(stateDir)}`,
      )
    }
    await delay(PAUSE_MS)
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** Ends a child that did not get ready: asked first, forced after a while. */
async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  const deadline = performance.now() + STOP_TIMEOUT_MS
  while (!hasEnded(child) && performance.now() < deadline) await delay(PAUSE_MS)
  if (!hasEnded(child)) child.kill('SIGKILL')
  child.unref()
}

function showTail(plan: UpPlan, { path, from }: Log): void {
  const said = readFileSync(path).subarray(from).toString('utf8').trimEnd().split('\n')
  for (const line of said.slice(-TAIL_LINES)) plan.note(`  ${line}`)
}
