import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { isRunning } from '../../cli/client/service-state.ts'
import type { ServiceState } from '../../cli/client/service-state.ts'
import { ensureBuilt } from '../support/built.ts'
import { SCRATCH } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import { noteRan } from './ran.ts'

ensureBuilt('cli')

/** The launcher of the package: these tests run what users run. */
export const LAUNCHER = join(import.meta.dirname, '..', '..', 'bin', 'svc.js')

export type Ended = { code: number | null; stdout: string; stderr: string }
export type SvcOptions = { env?: NodeJS.ProcessEnv; cwd?: string; uid?: number }

const COMMAND_TIMEOUT_MS = 90_000
/** What Node.js compiled for one command is there for the next. */
const COMPILE_CACHE = join(tmpdir(), 'svc-test-compile-cache')
/** The profiles of whoever runs the tests are none of theirs. */
const NO_CONFIG_DIR = '/nowhere/config'

/**
 * A Node.js program and its arguments, for spawn. tap puts itself into every child through NODE_OPTIONS, also when the
 * environment given to spawn has none; `env` takes it out again and becomes the program.
 */
export function nodeCommand(words: readonly string[], node: string = process.execPath): [file: string, args: string[]] {
  return ['env', ['-u', 'NODE_OPTIONS', node, ...words]]
}

export function cleanEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(NODE_OPTIONS|TAP|SVC_|_TAP|CI$|FORCE_COLOR|npm_)/.test(name),
  )
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: COMPILE_CACHE, SVC_CONFIG_DIR: NO_CONFIG_DIR, ...more }
}

/** Runs one command to its end. */
export async function svc(words: readonly string[], { env = {}, ...options }: SvcOptions = {}): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  execFile(
    ...nodeCommand([LAUNCHER, ...words]),
    { env: cleanEnv(env), timeout: COMMAND_TIMEOUT_MS, ...options },
    (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      noteRan(words, code)
      resolve({ code, stdout, stderr })
    },
  )
  return promise
}

/** An own state directory, whose service is stopped and whose data is removed at the end of the test. */
export function stateDirOf(t: Test): string {
  const stateDir = mkdtempSync(join(SCRATCH, 'svc-up-'))
  // As svc makes its own: the database's user may pass, so the data is here too.
  chmodSync(stateDir, 0o711)
  t.teardown(async () => {
    // Most tests stop their service themselves: a command more would do nothing, in half a second of a core.
    if (processesOf(stateDir).length > 0) await svc(['down', '--state-dir', stateDir])
    const dataDirectory = postgresData(stateDir)
    for (const directory of [dataDirectory, stateDir])
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
  })
  return stateDir
}

function postgresData(stateDir: string): string | undefined {
  const file = join(stateDir, 'postgres.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).dataDirectory : undefined
}

const endOfLog = (stateDir: string): string => {
  const file = join(stateDir, 'svc.log')
  return existsSync(file) ? readFileSync(file, 'utf8').slice(-4_000) : ''
}

/** Starts a service in the background and returns what it says of itself. */
export async function upDetached(
  stateDir: string,
  more: readonly string[] = [],
  options: SvcOptions = {},
): Promise<ServiceState> {
  const { code, stdout, stderr } = await svc(
    ['up', '--port', '0', '--state-dir', stateDir, '--detach', '--json', ...more],
    options,
  )
  if (code !== 0) throw new Error(`svc up ended with ${code}: ${stderr} ${stdout} ${endOfLog(stateDir)}`)
  return JSON.parse(stdout)
}

export type Foreground = { child: ChildProcess; state: ServiceState; said(): string; ended: Promise<number | null> }

/** Starts a service in the foreground, in a process group of its own as a shell would, and waits for its JSON. */
export async function upForeground(
  t: Test,
  words: readonly string[],
  { env = {} }: SvcOptions = {},
): Promise<Foreground> {
  const child = spawn(...nodeCommand([LAUNCHER, 'up', '--json', ...words]), {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  t.teardown(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk))
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk))
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null))
  await until('the service is up', () => stdout.includes('\n') || child.exitCode !== null)
  if (stdout === '') throw new Error(`svc up ended with ${child.exitCode}: ${stderr}`)
  return { child, state: JSON.parse(stdout), said: () => stderr, ended }
}

/** The processes that run on this state directory's database, by their command lines. */
export function databaseProcesses(stateDir: string): number[] {
  const dataDirectory = postgresData(stateDir)
  return dataDirectory === undefined ? [] : processesWith(dataDirectory)
}

/** Those, and the services and commands that were given the directory, by flag or by environment. */
function processesOf(stateDir: string): number[] {
  const { pid } = existsSync(join(stateDir, 'svc.json'))
    ? JSON.parse(readFileSync(join(stateDir, 'svc.json'), 'utf8'))
    : {}
  const service = typeof pid === 'number' && isRunning(pid) ? [pid] : []
  return [...service, ...databaseProcesses(stateDir), ...processesWith(stateDir)]
}

function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => commandLine(name).includes(text))
    .map(Number)
    .filter(isRunning)
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
