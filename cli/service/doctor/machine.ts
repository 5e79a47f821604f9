import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { freePort } from '../../../src/db/free-port.ts'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { quoted } from '../../base/command-hints.ts'
import { probe } from '../probe.ts'
import { checkPort, rememberedPort } from '../up/state-files.ts'
import { finding, ok, runChecks, skipped } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { DoctorTarget } from './target.ts'

export function checkMachine(target: DoctorTarget): Promise<Check[]> {
  const { stateDir, io } = target.context
  return runChecks({
    node: async () => nodeCheck({ running: process.version, shell: await shellNode(io.env) }),
    port: () => portCheck(target),
    'state directory': () => stateDirectoryCheck(stateDir),
  })
}

const Package = z.looseObject({ engines: z.looseObject({ node: z.string() }) })

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
  const { engines } = Package.parse(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')))
  const needed = majorOf(engines.node)
  if (majorOf(running) < needed) return finding(`svc needs Node.js ${needed} or newer; this is ${running}`, 'npm ci')
  const isPassedOver = shell !== undefined && majorOf(shell) < needed
  const launcher = isPassedOver ? `; the shell's own is ${shell}, which the launcher passes over` : ''
  return ok(`Node.js ${running.slice(1)}; ${needed} or newer is needed${launcher}`)
}

const DEFAULT_PORT = 8080
const Named = z.looseObject({ name: z.literal('svc') })

/** Whether the port of the API is free, or taken by the service that it is for. */
async function portCheck({ by, url, config, context }: DoctorTarget): Promise<Verdict> {
  if (by === 'name' || by === 'state directory') return skipped(`the service listens at ${url ?? 'another address'}`)
  const port = config?.port ?? rememberedPort(context.stateDir) ?? DEFAULT_PORT
  const isFree = await checkPort(port).then(
    () => true,
    () => false,
  )
  if (isFree) return ok(`port ${port} is free`)
  const listener = await probe(`http://127.0.0.1:${port}/api/v1/service`)
  const isSvc = listener.status !== undefined && Named.safeParse(listener.json).success
  if (isSvc && by === 'environment') return ok(`svc listens at port ${port}`)
  const fix = by === 'environment' ? `export SVC_PORT=${await freePort()}` : 'svc up --port 0'
  return finding(`port ${port} is taken by ${isSvc ? 'another svc' : 'another program'}`, fix)
}

function stateDirectoryCheck(stateDir: string): Verdict {
  if (!existsSync(stateDir)) return skipped(`there is none yet at ${stateDir}`)
  try {
    accessSync(stateDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return ok(stateDir)
  } catch {
    return finding(`this user may not write in ${stateDir}`, `sudo chown -R "$(id -un)" ${quoted(stateDir)}`)
  }
}
