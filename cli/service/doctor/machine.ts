import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { quoted } from '../../base/command-hints.ts'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'
import { checkConfigFiles } from './config-files.ts'
import { checkFiles } from './files.ts'
import { checkEmbedded, checkProcess } from './leftovers.ts'
import type { DoctorTarget } from './target.ts'
import { checkPort } from './port.ts'
import { runCheck } from './timed.ts'

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
export function nodeCheck({ running, shell }: { running: string; shell: string | undefined }): Check {
  const needed = neededNode()
  if (majorOf(running) < needed)
    return finding('node', `svc needs Node.js ${needed} or newer; this is ${running}`, 'npm ci')
  const isPassedOver = shell !== undefined && majorOf(shell) < needed
  const launcher = isPassedOver ? `; the shell's own is ${shell}, which the launcher passes over` : ''
  return ok('node', `Node.js ${running.slice(1)}; ${needed} or newer is needed${launcher}`)
}

function checkStateDirectory(stateDir: string): Check {
  const check = 'state directory'
  if (!existsSync(stateDir)) return skipped(check, `there is none yet at ${stateDir}`)
  try {
    accessSync(stateDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return ok(check, stateDir)
  } catch {
    return finding(check, `this user may not write in ${stateDir}`, `sudo chown -R "$(id -un)" ${quoted(stateDir)}`)
  }
}

/** The bytes that are free for its owner; undefined where there is no directory. */
async function roomIn(stateDir: string): Promise<number | undefined> {
  if (!existsSync(stateDir)) return undefined
  const { bavail, bsize } = await statfs(stateDir)
  return bavail * bsize
}

export function spaceCheck(stateDir: string, bytes: number | undefined): Check {
  const check = 'disk space'
  if (bytes === undefined) return skipped(check, `there is no state directory yet at ${stateDir}`)
  const room = bytes < 2 ** 30 ? `${Math.floor(bytes / 2 ** 20)} MB` : `${Math.floor(bytes / 2 ** 30)} GB`
  if (bytes >= ROOM_LEAST_BYTES) return ok(check, `${room} are free in the state directory`)
  return finding(
    check,
    `only ${room} are free in ${stateDir}: its database stops when there is no room`,
    'svc up --state-dir <a directory with more room>',
  )
}
