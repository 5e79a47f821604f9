import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { quoted } from '../../base/command-hints.ts'
import { CliError } from '../../base/errors.ts'
import type { Io } from '../../base/io.ts'
import { configDirOf } from '../../client/auth/config-dir.ts'
import { withConfigFiles } from '../../client/auth/config-settings.ts'
import { credentialsFile } from '../../client/auth/credentials-file.ts'
import { configFile, readProjectConfig, readUserConfig } from '../../client/auth/profiles.ts'
import { serviceFile, isRunning, readServiceState } from '../../client/service-state.ts'
import { keyFile } from '../up/key-file.ts'
import { logFile } from '../up/state-files.ts'
import { finding, ok, skipped, runCheck } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { checkPort } from './port.ts'
import type { DoctorTarget } from './target.ts'

/** A database needs room for its log of changes, and a crash recovery for a second one. */
const ROOM_LEAST_BYTES = 512 * 2 ** 20

export async function checkMachine(target: DoctorTarget): Promise<Check[]> {
  const { stateDir, io } = target.context
  return Promise.all([
    runCheck('node', async () => nodeCheck({ running: process.version, shell: await shellNode(io.env) })),
    runCheck('port', () => checkPort(target)),
    runCheck('state directory', () => checkStateDirectory(stateDir)),
    runCheck('disk space', async () => spaceCheck(stateDir, await roomIn(stateDir))),
    runCheck('file permissions', () => checkFiles(stateDir, io.env)),
    runCheck('config files', () => checkConfigFiles(io)),
    runCheck('process', () => checkProcess(stateDir)),
    runCheck('embedded database', () => checkEmbedded(target)),
  ])
}

const Package = z.looseObject({ engines: z.looseObject({ node: z.string() }) })

/** The major version of Node.js that the package asks for. */
function neededNode(): number {
  const { engines } = Package.parse(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')))
  return majorOf(engines.node)
}

function majorOf(version: string): number {
  return Number.parseInt(/\d+/.exec(version)?.[0] ?? '0', 10)
}

/** What the shell finds as `node`, which starts the launcher; undefined where it finds none. */
async function shellNode({ PATH }: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (PATH === undefined) return undefined
  try {
    const { stdout } = await promisify(execFile)('node', ['--version'], { env: { PATH }, timeout: 2_000 })
    return stdout.trim()
  } catch {
    return undefined
  }
}

/** The launcher starts itself again under a newer Node.js that the package brings, where the shell's is too old. */
export function nodeCheck({ running, shell }: { running: string; shell: string | undefined }): Verdict {
  const needed = neededNode()
  if (majorOf(running) < needed) return finding(`svc needs Node.js ${needed} or newer; this is ${running}`, 'npm ci')
  const isPassedOver = shell !== undefined && majorOf(shell) < needed
  const launcher = isPassedOver ? `; the shell's own is ${shell}, which the launcher passes over` : ''
  return ok(`Node.js ${running.slice(1)}; ${needed} or newer is needed${launcher}`)
}

function checkStateDirectory(stateDir: string): Verdict {
  if (!existsSync(stateDir)) return skipped(`there is none yet at ${stateDir}`)
  try {
    accessSync(stateDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return ok(stateDir)
  } catch {
    return finding(`this user may not write in ${stateDir}`, `sudo chown -R "$(id -un)" ${quoted(stateDir)}`)
  }
}

/** The bytes that are free for its owner; undefined where there is no directory. */
async function roomIn(stateDir: string): Promise<number | undefined> {
  if (!existsSync(stateDir)) return undefined
  const { bavail, bsize } = await statfs(stateDir)
  return bavail * bsize
}

export function spaceCheck(stateDir: string, bytes: number | undefined): Verdict {
  if (bytes === undefined) return skipped(`there is no state directory yet at ${stateDir}`)
  const room = bytes < 2 ** 30 ? `${Math.floor(bytes / 2 ** 20)} MB` : `${Math.floor(bytes / 2 ** 30)} GB`
  if (bytes >= ROOM_LEAST_BYTES) return ok(`${room} are free in the state directory`)
  return finding(
    `only ${room} are free in ${stateDir}: its database stops when there is no room`,
    'svc up --state-dir <a directory with more room>',
  )
}

const FOR_OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022

/** Whether what is secret can be read by its owner alone, and the state directory be changed by nobody else. */
function checkFiles(stateDir: string, env: NodeJS.ProcessEnv): Verdict {
  if (process.platform === 'win32') return skipped('Windows keeps them otherwise')
  const secrets = [
    keyFile(stateDir),
    serviceFile(stateDir),
    join(stateDir, 'postgres.json'),
    join(stateDir, 'postgres.log'),
    logFile(stateDir),
    credentialsFile(configDirOf(env)),
  ]
  const open = secrets.filter((file) => ((modeOf(file) ?? 0) & FOR_OTHERS) !== 0)
  if (open.length > 0)
    return finding(`others can read ${open.join(', ')}`, `chmod 600 ${open.map((file) => quoted(file)).join(' ')}`)
  if (((modeOf(stateDir) ?? 0) & WRITABLE_BY_OTHERS) !== 0)
    return finding(`others can replace what is in ${stateDir}`, `chmod go-w ${quoted(stateDir)}`)
  const there = secrets.filter((file) => modeOf(file) !== undefined).length
  return there === 0 ? skipped('there is nothing secret here yet') : ok('what is secret can be read by its owner alone')
}

/** Whether what signs people in can be read by others; the next command that uses it closes it to them. */
export function areCredentialsOpen(env: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'win32' && ((modeOf(credentialsFile(configDirOf(env))) ?? 0) & FOR_OTHERS) !== 0
}

/** Undefined where there is no such file, or none that may be looked at. */
function modeOf(file: string): number | undefined {
  try {
    return statSync(file).mode
  } catch {
    return undefined
  }
}

type Place = Pick<Io, 'env' | 'cwd'>

/** Whether the project's config.yaml and the user's own can be read: any other command is refused where they can't. */
function checkConfigFiles(place: Place): Verdict {
  const problem = configFilesProblem(place)
  if (problem === undefined) return ok('those that are here can be read')
  const files = [join(place.cwd, '.svc', 'config.yaml'), configFile(configDirOf(place.env))]
  const file = files.find((each) => problem.startsWith(each)) ?? files[0] ?? ''
  return finding(problem, `"\${EDITOR:-nano}" ${quoted(file)}`)
}

/** What is wrong with the first of them that can't be used; undefined where nothing is. */
export function configFilesProblem({ env, cwd }: Place): string | undefined {
  try {
    withConfigFiles(env, cwd, new Map())
    readProjectConfig(cwd)
    readUserConfig(configDirOf(env))
    return undefined
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
}

/** Whether the file of the running service is of a process that runs. */
function checkProcess(stateDir: string): Verdict {
  const file = serviceFile(stateDir)
  if (!existsSync(file)) return skipped(`no service of ${stateDir} is running`)
  accessSync(file, constants.R_OK)
  const state = readServiceState(stateDir)
  if (state === undefined) return finding(`${file} is damaged: no command finds its service by it`, 'svc down')
  if (isRunning(state.pid)) return ok(`the service of ${stateDir} is process ${state.pid}`)
  return finding(`${file} is of process ${state.pid}, which has ended without cleaning up`, 'svc down')
}

/** Whether the server that svc up brings runs exactly when its service does. */
async function checkEmbedded({ context: { stateDir }, state }: DoctorTarget): Promise<Verdict> {
  const [{ readServerState }, { findServer, isReady }] = await Promise.all([
    import('../../../src/db/state-directory.ts'),
    import('../../../src/db/postmaster.ts'),
  ])
  const server = readServerState(stateDir)
  if (server === null) return skipped('this state directory has none')
  const pid = findServer(server.dataDirectory)
  const owner = state ?? readServiceState(stateDir)
  if (owner !== undefined && isRunning(owner.pid)) {
    if (!isOf(owner.database_url, server.port)) return ok('the service uses another one')
    if (pid === null) return finding('its server has ended, and the service still runs', 'svc down && svc up --detach')
    if (!isReady(server.dataDirectory, pid))
      return finding(`its server, process ${pid}, takes no connections`, 'svc down && svc up --detach')
    return ok(`process ${pid}`)
  }
  if (pid === null) return ok('it is stopped, as its service is')
  return finding(`its server, process ${pid}, still runs, and its service does not`, 'svc down')
}

function isOf(databaseUrl: string, port: number | null): boolean {
  return port !== null && URL.canParse(databaseUrl) && new URL(databaseUrl).port === String(port)
}
